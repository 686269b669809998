import ArgumentParser
import TenureContentPublishing
import TenureCore
import TenurePolicyFile

/// The file that describes asset packs, and the policy with the entitlements and products that unlock them.
struct ContentFileOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The asset packs, in YAML or JSON; - for standard input. Paths of folders are relative to the file.",
            valueName: "content.yaml"))
    var file: String

    @Option(
        help: ArgumentHelp(
            "The app's policy. With it, packs may name only the policy's entitlements and products, and `app` can be left out of the pack file.",
            valueName: "file"))
    var policy: String?

    func validate() throws {
        if file == "-", policy == "-" {
            throw ValidationError("standard input can be read only once; pass the policy's file by name")
        }
    }

    /// Reads the policy, if `--policy` is set, then the file of asset packs.
    ///
    /// - Throws: `PolicyFileError` with every mistake of the policy, or of the file and the files of its packs.
    func read() throws -> ContentFile {
        let policy = try policy.map { try PolicyOnDisk(path: $0).read() }
        let bytes = try InputFile(path: file).bytes(limit: PolicyFile.maximumSize)
        return try ContentFile.read(bytes, named: file, policy: policy)
    }

    /// Like `read`, but prints the mistakes to standard error and ends the command with exit code 2.
    func readOrRefuse() throws -> ContentFile {
        try printingMistakes { try read() }
    }
}

extension ContentFile {
    /// Performs work that reads the files of all packs, and shows how many bytes it has read.
    ///
    /// - Parameter work: gets a closure, which it calls with the size of each piece that it has read.
    func showingProgress<Result>(_ work: (_ progress: (Int) -> Void) throws -> Result) throws -> Result {
        let progress = Progress("bytes")
        defer { progress.end() }
        let total = packs.reduce(0) { $0 + $1.files.size }
        var bytesRead: Int64 = 0
        return try work { count in
            bytesRead += Int64(count)
            // A file may be read twice, so `bytesRead` may exceed `total`.
            progress.show(min(bytesRead, total), of: total)
        }
    }
}
