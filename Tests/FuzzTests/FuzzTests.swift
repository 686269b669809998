import Foundation
import FuzzTargets
import TenureMint
import Testing

/// A short, repeatable run of what `make fuzz` does with libFuzzer.
@Suite struct FuzzTests {
    /// A crash ends the whole test run; the test case started last names the target.
    @Test(arguments: FuzzTarget.allCases) func `each parser survives corrupted input`(target: FuzzTarget) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tenure-fuzz-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Some targets block the thread that they run on.
        let count = try await onThread {
            let fixtures = try FuzzFixtures(folder: folder, authority: Self.authority.get())
            let seeds = try target.seeds(from: fixtures)
            for seed in seeds { target.run(seed, in: fixtures) }
            var corruption = Corruption(seeds: seeds, name: target.rawValue, maximumLength: target.maximumLength)
            for _ in 0..<Self.inputs { target.run(corruption.next(), in: fixtures) }
            return seeds.count
        }
        #expect(count > 0)
    }

    /// For each target; the environment variable `TENURE_FUZZ_INPUTS` sets another number.
    private static let inputs =
        ProcessInfo.processInfo.environment["TENURE_FUZZ_INPUTS"].flatMap { Int($0) } ?? 250

    private static let authority = Result { try TestAuthority() }

    private func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Swift.Result { try body() }) }
            thread.stackSize = 8 << 20
            thread.start()
        }
    }
}
