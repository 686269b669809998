import ArgumentParser
import TenureStore

struct DatabaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "database",
        abstract: "Dump, check, rebuild, back up, restore and move the service's database.",
        discussion: """
            The database of `tenure serve` contains what the App Store signed, what support decided, and what each \
            customer has as a result. Docs/database.md explains it.
            """,
        subcommands: [
            DatabaseDumpCommand.self, DatabaseCheckCommand.self, DatabaseRebuildCommand.self,
            DatabaseBackupCommand.self, DatabaseRestoreCommand.self, DatabaseMigrateCommand.self,
            DatabaseReopenCommand.self, DatabaseAcceptKeysCommand.self, DatabaseVacuumCommand.self,
        ]
    )
}

/// Opens the database for one command, and closes the database after `body`, even after an error. If `body` or closing
/// fails and the database file was replaced meanwhile, throws an error about the replacement, which explains the
/// failure.
///
/// - Parameters:
///   - opening: whether the database must exist, and of which app it must be. By default, it is an existing database of
///     any app.
///   - primary: the file that records which PostgreSQL server was the primary; nil if the service has no such file.
func withDatabase<Result>(
    _ database: DatabaseArgument, _ opening: DatabaseOpening = .existing(of: nil), primary: PrimaryFile? = nil,
    _ body: (Store) async throws -> Result
) async throws -> Result {
    let store = try await database.open(opening, primary: primary)
    do {
        let result = try await body(store)
        try await store.close()
        return result
    } catch {
        let report = await store.replacementReport()
        try? await store.close()
        if let report { throw CommandError(report) }
        throw error
    }
}
