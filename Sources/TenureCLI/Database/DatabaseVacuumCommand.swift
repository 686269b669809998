import ArgumentParser
import TenureStore

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
            """
    )

    @OptionGroup var options: DatabaseOption

    func run() async throws {
        let selection = try options.selection()
        let database = selection.database
        guard !database.isPostgres else {
            throw CommandError(
                """
                PostgreSQL removes rows by itself (autovacuum); to give space back to the disk, run `VACUUM FULL` with \
                `psql`, as the owner of the tables
                """)
        }
        let sizes = try SQLiteVacuum(of: database.text, for: selection.bundleID).run()
        Terminal.standardOutput.write(
            "\(database.text) has \(ByteCount(sizes.after)) now, and had \(ByteCount(sizes.before))")
    }
}
