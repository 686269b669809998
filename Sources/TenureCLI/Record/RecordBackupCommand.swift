import ArgumentParser
import Foundation
import TenureStore

struct RecordBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a record in SQLite into one file, while the service goes on writing.",
        discussion: """
            The copy is one state of the record: complete, flushed to the disk, read back, and readable by its owner \
            only. The keys that lie beside the record (`certificate-key.pem`, `access-token.secret`) are not in it: copy \
            them once, to another place. To restore, stop the service and put the copy where the record was, without \
            the `-wal` and `-shm` of the old one.

            Example:
              tenure record backup --database var/tenure.sqlite backups/2026-11-21.sqlite
            """
    )

    @OptionGroup var options: RecordDatabaseOption

    @Argument(help: "The file to write.")
    var file: String

    @Flag(help: "Replace the file if it is there already.")
    var force = false

    func run() async throws {
        try await reportingErrors {
            let database = options.database
            guard !database.isPostgres else {
                throw CommandError(
                    """
                    PostgreSQL makes its own copies: `pg_dump --format=custom --file=\(file) "$DATABASE_URL"`, and \
                    `pg_restore` to bring one back; or `tenure record migrate --to \(file)` for a copy in SQLite
                    """)
            }
            var plan = FilePlan()
            // The database itself, by whatever name, is refused by the copy.
            for name in ["-wal", "-shm", "-journal"] { plan.reads(database.text + name) }
            plan.writes(file)
            try plan.check(replacing: true)
            let receipt = try SQLiteBackup(of: database.text, to: file).run(replacing: force)
            Terminal.standardOutput.write(
                "copied \(receipt.customers) customers and \(receipt.artifacts) artifacts to \(file) (\(receipt.size) bytes)"
            )
        }
    }
}
