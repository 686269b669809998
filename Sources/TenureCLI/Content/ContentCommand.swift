import ArgumentParser
import TenureContent
import TenureContentPublishing
import TenureCore
import TenurePolicyFile

struct ContentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "content", abstract: "Publish asset packs: files that a purchase unlocks.",
        discussion: """
            Docs/content.md explains how to publish packs, serve them and use them in the app.

            Example:
              tenure content check content.yaml --policy policy.yaml
              tenure content publish content.yaml --key policy-key.pem --to published
            """,
        subcommands: [
            ContentCheckCommand.self, ContentPublishCommand.self, ContentListCommand.self, ContentPruneCommand.self,
            ContentEmbedCommand.self,
        ])
}

/// The file that describes asset packs, and the policy with the entitlements and products that unlock them.
struct ContentFileOptions: ParsableArguments {
    @Argument(
        help: .value(
            "content.yaml",
            "The asset packs, in YAML or JSON; - for standard input. Paths of folders are relative to the file."))
    var file: String

    @Option(
        help: .value(
            "file",
            "The app's policy. With it, packs may name only the policy's entitlements and products, and `app` can be left out of the pack file."
        ))
    var policy: String?

    func validate() throws {
        try require(
            file != "-" || policy != "-", "standard input can be read only once; pass the policy's file by name")
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
    func readOrRefuse() throws -> ContentFile { try printingMistakes { try read() } }
}

/// Prints a pack's name, the number of its files, and their size.
private func writeSummary(of pack: String, _ fileCount: Int, _ size: Int64) {
    terminal.write("\(pack): \(counted(fileCount, "file")), \(byteCount(size))")
}

extension ContentFile {
    /// Performs work that reads the files of all packs, and shows on the terminal how many bytes it has read.
    ///
    /// - Parameter work: reads the files. It must call its parameter `progress` after each read, with the number of
    ///   bytes that it has read since the last call.
    func showingProgress<Result>(_ work: (_ progress: (Int) -> Void) throws -> Result) throws -> Result {
        let progress = Progress("bytes")
        defer { progress.end() }
        let total = packs.reduce(0) { $0 + $1.files.size }
        var bytesRead: Int64 = 0
        return try work { count in
            bytesRead += Int64(count)
            // Publishing may read a file twice, so `bytesRead` may exceed `total`.
            progress.show(min(bytesRead, total), of: total)
        }
    }
}

struct ContentCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Report the mistakes of asset packs and of their files.",
        discussion: """
            Each mistake has its line and column; mistakes in a pack's files have the position of `files`. Symbolic \
            links, programs and libraries (Mach-O, ELF, PE: App Review 2.5.2) can't be published. Neither can files \
            that are too large, or with names that some file systems don't distinguish. `.DS_Store` and `._*` are \
            skipped.

            Exit codes: 0 no mistakes, 2 mistakes, 1 a file can't be read, 64 wrong usage.

            Example:
              tenure content check content.yaml --policy policy.yaml
            """)

    @OptionGroup var content: ContentFileOptions

    func run() async throws {
        let name = InputFile(path: content.file).name
        do {
            let contentFile = try content.read()
            for pack in contentFile.packs { writeSummary(of: pack.name, pack.files.files.count, pack.files.size) }
            terminal.write("\(name): no mistakes")
        } catch let error as PolicyFileError {
            var excerpts = SourceExcerpts()
            for mistake in error.mistakes {
                let position = terminal.styled(Terminal.escaped(mistake.position.description), .bold)
                terminal.write("\(position): \(terminal.styled("error", .red)): \(Terminal.escaped(mistake.message))")
                if mistake.showsExcerpt { excerpts.show(mistake.position.file, at: mistake.position, on: terminal) }
            }
            // If the policy has mistakes, the packs aren't checked: all mistakes are then in the policy.
            let isPolicyInvalid = !error.mistakes.contains { $0.position.file == content.file }
            let checkedFile = InputFile(path: isPolicyInvalid ? (content.policy ?? content.file) : content.file)
            terminal.write("\(checkedFile.name): \(counted(error.mistakes.count, "mistake"))")
            throw ExitCode.refused
        }
    }
}

struct ContentEmbedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "embed", abstract: "Write asset packs as plain files for the app's bundle.",
        discussion: """
            Writes `<pack>/<path>` for each file, and `content.json`. In Xcode, add the folder to the app as a folder \
            reference. The client opens these files in place. A pack in the bundle is installed from the first start, \
            without a network. A version that you publish later is its update.

            Running the command again replaces the folder that it wrote. The command refuses a folder with other files.

            Exit codes: 0 written, 2 mistakes in the file or in the packs, 1 error, 64 wrong usage.

            Example:
              tenure content embed content.yaml --to Calculator/Content
            """)

    @OptionGroup var content: ContentFileOptions

    @Option(help: .value("folder", "The folder for the bundle. Created if it doesn't exist."))
    var to: String

    func run() async throws {
        let content = try content.readOrRefuse()
        let embedded = try content.showingProgress { progress in
            try ContentEmbedder(folder: to).embed(content.packs, progress: progress)
        }
        for pack in embedded.packs { writeSummary(of: pack.name, pack.files.count, pack.installedSize) }
        terminal.write("wrote `\(to)/\(EmbeddedContent.fileName)`")
    }
}

struct ContentPruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove the manifests and archives that were in no catalog of the last 30 days.",
        discussion: """
            Files of a replaced catalog stay for 30 days, so that apps can finish downloads of old versions. The 30 days \
            begin when the next catalog is issued. The command removes no files of the current catalog and no other files.

            Exit codes: 0 done, 1 error, 64 wrong usage.

            Example:
              tenure content prune published --dry-run
            """)

    @Argument(help: "The published folder.") var folder: String

    @Flag(help: "Print what would be removed, and remove nothing.") var dryRun = false

    func run() async throws {
        let pruning = try ContentFolder(path: folder).prune(removing: !dryRun)
        let verb = dryRun ? "would remove" : "removed"
        for object in pruning.removed { terminal.write("\(verb) \(object.name)  \(byteCount(object.size))") }
        let (removed, kept) = (counted(pruning.removed.count, "file"), counted(pruning.kept, "file"))
        terminal.write("\(verb) \(removed), \(pruning.removedSize) bytes; kept \(kept)")
    }
}
