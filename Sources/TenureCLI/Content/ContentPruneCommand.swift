import ArgumentParser
import TenureContentPublishing

struct ContentPruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove the manifests and archives that no catalog of the last 30 days named.",
        discussion: """
            Apps that began to download an old version can end it within these 30 days. A catalog counts until the next \
            one was issued; what the current one names always stays. Other files are never removed.

            Exit codes: 0 done, 1 error, 64 wrong usage.

            Example:
              tenure content prune published --dry-run
            """
    )

    @Argument(help: "The published folder.")
    var folder: String

    @Flag(help: "Only say what would be removed.")
    var dryRun = false

    func run() async throws {
        try await reportingErrors {
            let pruning = try ContentFolder(path: folder).prune(removing: !dryRun)
            let terminal = Terminal.standardOutput
            let verb = dryRun ? "would remove" : "removed"
            for object in pruning.removed { terminal.write("\(verb) \(object.name)  \(ByteCount(object.size))") }
            terminal.write(
                "\(verb) \(counted(pruning.removed.count, "file")), \(pruning.removedSize) bytes; kept \(pruning.kept)")
        }
    }
}
