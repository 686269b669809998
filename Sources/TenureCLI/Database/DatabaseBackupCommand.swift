import ArgumentParser
import Foundation
import TenureStore

struct DatabaseBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy an SQLite database into one file, even while the service runs.",
        discussion: """
            The copy is one state of the database: complete, flushed, read back, and readable only by its owner. It \
            doesn't contain the keys beside the database (`signing-key.json`, `access-token.secret`): copy them to \
            another place. To restore the copy, run `tenure database restore`. Don't copy it over the database \
            with other tools.

            Example:
              tenure database backup --database var/tenure.sqlite backups/2026-11-21.sqlite
            """
    )

    @OptionGroup var options: DatabaseOption

    @Argument(help: "The file to write.")
    var file: String

    @Flag(help: "Replace the file if it exists.")
    var force = false

    func run() async throws {
        let selection = try options.selection()
        let database = selection.database
        guard !database.isPostgres else {
            throw CommandError(
                """
                this command copies only SQLite databases; use \
                `pg_dump --format=custom --file=\(file) "$DATABASE_URL"`, and restore the backup with `pg_restore`
                """)
        }
        // The backup itself checks that the file isn't the database under another name.
        try FilePlan(reading: database.files.dropFirst() + selection.files, writing: [file]).check(replacing: true)
        let backup = try SQLiteBackup(of: database.text, to: file).run(replacing: force)
        Terminal.standardOutput.write(
            "copied \(counted(backup.customers, "customer")) and \(counted(backup.artifacts, "artifact")) to \(file) (\(backup.size) bytes)"
        )
    }
}
