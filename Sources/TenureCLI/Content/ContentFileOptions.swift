import ArgumentParser
import TenureContentPublishing
import TenureCore
import TenurePolicyFile

/// The file that describes asset packs, and the policy whose entitlements and products unlock them.
struct ContentFileOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The asset packs, in YAML or JSON; - for standard input. Folders are relative to it.",
            valueName: "content.yaml"))
    var file: String

    @Option(
        help: ArgumentHelp(
            "The app's policy: packs may name only its entitlements and products, and `app` can be left out.",
            valueName: "file"))
    var policy: String?

    func validate() throws {
        if file == "-", policy == "-" {
            throw ValidationError("standard input can be read once; name the policy's file")
        }
    }

    /// - Throws: `PolicyFileError` with every mistake of the policy, or of the file and the files of its packs.
    func read() throws -> ContentFile {
        let policy = try policy.map { try PolicyOnDisk(path: $0).read() }
        let bytes = try InputFile(path: file).bytes(limit: PolicyFile.maximumSize)
        return try ContentFile.read(bytes, named: file, policy: policy)
    }

    /// The same; mistakes are written to standard error, and end the command.
    func readOrRefuse() throws -> ContentFile {
        do {
            return try read()
        } catch let error as PolicyFileError {
            for mistake in error.mistakes { Terminal.standardError.write(mistake.description) }
            throw ExitCode.refused
        }
    }
}
