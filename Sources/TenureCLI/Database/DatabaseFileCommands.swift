import ArgumentParser
import Foundation
import TenureStore

// The commands for the file of an SQLite database: `tenure database backup`, `restore` and `vacuum`.

struct DatabaseBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy an SQLite database into one file, even while the service runs.",
        discussion: """
            The copy is one state of the database: complete, flushed, read back, and readable only by its owner. It \
            doesn't contain the keys beside the database (`signing-key.json`, `access-token.secret`): copy them to \
            another place. To restore the copy, run `tenure database restore`. Don't copy it over the database \
            with other tools.

            Example:
              tenure database backup --database var/tenure.sqlite backups/2026-11-21.sqlite
            """)

    @OptionGroup var options: DatabaseOption

    @Argument(help: "The file to write.") var file: String

    @Flag(help: "Replace the file if it exists.") var force = false

    func run() async throws {
        let selection = try options.selection()
        let path = try selection.sqlitePath(
            orThrow: """
                this command copies only SQLite databases; use \
                `pg_dump --format=custom --file=\(file) "$DATABASE_URL"`, and restore the backup with `pg_restore`
                """)
        // Leave out the database's own file, which is the first: `SQLiteBackup` checks that `file` isn't the database
        // under another name.
        try FilePlan(reading: selection.database.files.dropFirst() + selection.files, writing: [file])
            .check(replacing: true)
        let backup = try SQLiteBackup(of: path, to: file).run(replacing: force)
        let (customers, artifacts) = (counted(backup.customers, "customer"), counted(backup.artifacts, "artifact"))
        terminal.write("copied \(customers) and \(artifacts) to \(file) (\(backup.size) bytes)")
    }
}

struct DatabaseRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Replace an SQLite database with a backup.",
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
            """)

    @OptionGroup var options: DatabaseOption

    @Argument(help: "The backup, made by `tenure database backup`.") var file: String

    func run() async throws {
        let selection = try options.selection()
        let path = try selection.sqlitePath(
            orThrow: """
                this command restores only SQLite databases; restore a backup by `pg_dump` with `pg_restore`, or move a \
                copy of an SQLite backup into an empty database with `tenure database migrate --to`
                """)
        try FilePlan(reading: selection.files, writing: [path]).check(replacing: true)
        let restored = try SQLiteRestore(of: file, to: path, for: selection.bundleID).run()
        let customers = counted(restored.contents.customers, "customer")
        let artifacts = counted(restored.contents.artifacts, "artifact")
        let replaced = restored.replacedPath.map { "; the previous database is now `\($0)`" } ?? ""
        terminal.write("restored \(customers) and \(artifacts) to \(path)\(replaced)")
    }
}

struct DatabaseVacuumCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vacuum",
        abstract: "Write an SQLite database again without its free pages, so that the file becomes smaller.",
        discussion: """
            Stop the service first: the command refuses a database that is open. It needs room for a second copy on the \
            disk. The service overwrites what it removes, so erased data is gone even without this command.

            PostgreSQL uses the space of removed rows again by itself (autovacuum), and the command refuses its databases. \
            To give space back to the disk, run `VACUUM FULL` with `psql`; the service waits meanwhile.

            Exit codes: 0 done, 1 nothing was changed, 64 wrong usage.

            Example:
              tenure database vacuum --database var/tenure.sqlite
            """)

    @OptionGroup var options: DatabaseOption

    func run() async throws {
        let selection = try options.selection()
        let path = try selection.sqlitePath(
            orThrow: """
                PostgreSQL uses the space of removed rows again by itself (autovacuum); to give space back to the disk, run \
                `VACUUM FULL` with `psql`, as the owner of the tables
                """)
        let sizes = try SQLiteVacuum(of: path, for: selection.bundleID).run()
        terminal.write("\(path) has \(byteCount(sizes.after)) now, and had \(byteCount(sizes.before))")
    }
}
