import ArgumentParser
import TenureStore

struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Dump, check, rebuild, back up and move the record of a service.",
        discussion: """
            The record is what `tenure serve` keeps: a ledger of what the App Store signed and of what people decided, \
            with what it proves beside it. Docs/database.md explains it.
            """,
        subcommands: [
            RecordDumpCommand.self, RecordCheckCommand.self, RecordRebuildCommand.self, RecordBackupCommand.self,
            RecordMigrateCommand.self,
        ]
    )
}

/// Opens the record for one command, and closes it whatever happens.
func withRecord<Result>(
    _ database: RecordDatabase, making: Bool = false, _ body: (any SQLStore) async throws -> Result
) async throws -> Result {
    let store = try await database.open(making: making)
    do {
        let result = try await body(store)
        try await store.close()
        return result
    } catch {
        try? await store.close()
        throw error
    }
}
