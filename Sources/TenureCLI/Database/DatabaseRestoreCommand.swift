import ArgumentParser
import Foundation
import TenureStore

struct DatabaseRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Replace an SQLite database with a backup.",
        discussion: """
            Stop the service first: the command refuses a database that is open. It checks the backup, and replaces the \
            database with a copy of the backup. The old database is renamed (`.replaced`), with its write-ahead log. \
            The next start of the service migrates a backup of an earlier release.

            The keys (`signing-key.json`, `access-token.secret`) aren't in the backup. Keep the service's keys as they are.

            Exit codes: 0 restored, 1 nothing was changed (or the message says that only the last flush failed), 64 wrong \
            usage.

            Example:
              tenure database restore \\
                  --database var/tenure.sqlite backups/2026-11-21.sqlite
            """
    )

    @OptionGroup var options: DatabaseOption

    @Argument(help: "The backup, made by `tenure database backup`.")
    var file: String

    func run() async throws {
        let selection = try options.selection()
        let database = selection.database
        guard !database.isPostgres else {
            throw CommandError(
                """
                this command restores only SQLite databases; restore a backup by `pg_dump` with `pg_restore`, or move a \
                copy of an SQLite backup into an empty database with `tenure database migrate --to`
                """)
        }
        try FilePlan(reading: selection.files, writing: [database.text]).check(replacing: true)
        let restored = try SQLiteRestore(of: file, to: database.text, for: selection.bundleID).run()
        let contents = restored.contents
        let replaced = restored.replacedPath.map { "; the previous database is now `\($0)`" } ?? ""
        Terminal.standardOutput.write(
            """
            restored \(counted(contents.customers, "customer")) and \(counted(contents.artifacts, "artifact")) to \(database.text)\(replaced)
            """)
    }
}
