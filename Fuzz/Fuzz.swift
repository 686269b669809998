import Foundation
import FuzzTargets
import TenureMint

#if canImport(Glibc)
    import Glibc
#endif

/// Starts libFuzzer, which calls `callback` with one input after the other. A C function of compiler-rt.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ argc: UnsafeMutablePointer<Int32>,
    _ argv: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

// Set once before libFuzzer starts, and only read by its one thread.
nonisolated(unsafe) private var target: FuzzTarget = .appVersion
nonisolated(unsafe) private var fixtures: FuzzFixtures?

/// `tenure-fuzz TARGET [CORPUS...] [-libfuzzer=flags]` tests a reader of untrusted bytes with random inputs.
///
/// It mints valid inputs as seeds, and runs the target with variants of them until a limit (`-runs=N`,
/// `-max_total_time=S`) or until it crashes. Without a target, it lists all targets.
@main
enum Fuzz {
    static func main() throws {
        var arguments = CommandLine.arguments
        guard arguments.count > 1 else {
            print(FuzzTarget.allCases.map(\.rawValue).joined(separator: "\n"))
            return
        }
        guard let chosen = FuzzTarget(rawValue: arguments[1]) else {
            print("there is no target `\(arguments[1])`; run `tenure-fuzz` without arguments to list the targets")
            print("usage: tenure-fuzz TARGET [CORPUS...] [-runs=N ...]")
            exit(64)
        }
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "tenure-fuzz-\(chosen.rawValue)-\(getpid())")
        let (seeds, keys) = (folder.appending(path: "seeds"), folder.appending(path: "keys"))
        for folder in [seeds, keys] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        target = chosen
        // Use the same authority in every run, so that signed inputs of the corpus stay valid, and findings can be
        // repeated.
        let authority = try TestAuthority(readOrCreatedIn: URL(fileURLWithPath: "authority"))
        let minted = try FuzzFixtures(folder: keys, authority: authority)
        fixtures = minted
        arguments.remove(at: 1)
        for (index, seed) in try chosen.seeds(from: minted).enumerated() {
            try Data(seed).write(to: seeds.appending(path: "seed-\(index)"))
        }
        // libFuzzer stores new inputs in the first folder of the corpus, so a folder of the user comes before the
        // seeds. It writes an input that crashes to the current folder, or under `-artifact_prefix`.
        let hasCorpus = arguments.dropFirst().contains { !$0.hasPrefix("-") }
        if hasCorpus {
            arguments.append(seeds.path)
        } else {
            arguments.insert(seeds.path, at: 1)
        }
        let limits = ["-rss_limit_mb=1024", "-timeout=10", "-max_len=\(chosen.maximumLength)", "-print_final_stats=1"]
        arguments.insert(
            contentsOf: limits.filter { limit in
                let flag = limit.prefix { $0 != "=" }
                return !arguments.contains { $0.hasPrefix(flag + "=") }
            }, at: 1)

        var count = Int32(arguments.count)
        let storage = arguments.map { strdup($0) } + [nil]
        let vector = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: storage.count)
        vector.initialize(from: storage, count: storage.count)
        let holder = UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>.allocate(capacity: 1)
        holder.initialize(to: vector)
        let status = runDriver(&count, holder) { bytes, count in
            guard let fixtures else { return 0 }
            target.run(Array(UnsafeBufferPointer(start: bytes, count: count)), in: fixtures)
            return 0
        }
        try? FileManager.default.removeItem(at: folder)
        exit(status)
    }
}
