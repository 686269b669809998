import ArgumentParser
import TenureContentPublishing

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
            """
    )

    @Argument(help: "The published folder.")
    var folder: String

    @Flag(help: "Print what would be removed, and remove nothing.")
    var dryRun = false

    func run() async throws {
        let pruning = try ContentFolder(path: folder).prune(removing: !dryRun)
        let terminal = Terminal.standardOutput
        let verb = dryRun ? "would remove" : "removed"
        for object in pruning.removed { terminal.write("\(verb) \(object.name)  \(ByteCount(object.size))") }
        let kept = counted(pruning.kept, "file")
        terminal.write(
            "\(verb) \(counted(pruning.removed.count, "file")), \(pruning.removedSize) bytes; kept \(kept)")
    }
}
