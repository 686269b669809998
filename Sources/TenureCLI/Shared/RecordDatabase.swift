import ArgumentParser
import Foundation
import TenureCore
import TenurePostgres
import TenureStore

/// The record that a command was given: a file of SQLite by its path, or a database of PostgreSQL by its URL.
struct RecordDatabase: ExpressibleByArgument, Sendable, Hashable {
    /// A URL may hold a password.
    private let argument: Secret<String>
    var text: String { argument.revealed }

    init(argument: String) {
        self.argument = Secret(argument)
    }

    var defaultValueDescription: String { name }

    static let help = ArgumentHelp(
        "The record: a SQLite file, or a URL such as postgres://user@host/name.",
        valueName: "path or URL")

    static let standard = RecordDatabase(argument: "tenure.sqlite")

    var isPostgres: Bool { PostgresAddress.isPostgres(text) }

    /// As it may be shown: without the password that a URL may hold.
    var name: String {
        guard isPostgres else { return text }
        return (try? PostgresAddress(text))?.description ?? "the PostgreSQL database"
    }

    /// Whether both are one, however they are written.
    func isSame(as other: RecordDatabase) -> Bool {
        self == other || (!isPostgres && !other.isPostgres && SQLiteStore.areSame(text, other.text))
    }

    /// Opens it and brings it up to date. A file that is not there is made only where `making` says so.
    func open(making: Bool) async throws -> any SQLStore {
        if isPostgres { return try await PostgresStore(PostgresAddress(text)) }
        guard making || FileManager.default.fileExists(atPath: text) else {
            throw CommandError("there is no record at `\(text)`; name the database of your service by --database")
        }
        return try SQLiteStore(path: text, making: making)
    }
}

/// The option that all commands on the record share.
struct RecordDatabaseOption: ParsableArguments {
    @Option(help: RecordDatabase.help)
    var database: RecordDatabase = .standard
}
