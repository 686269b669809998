import ArgumentParser
import Foundation
import TenureCore
import TenurePostgres
import TenureStore

/// The database that a command uses: the path of an SQLite file, or the URL of a PostgreSQL database.
struct DatabaseArgument: ExpressibleByArgument, Sendable, Hashable {
    /// A URL may contain a password.
    private let argument: Secret<String>
    var text: String { argument.revealed }

    init(argument: String) {
        self.argument = Secret(argument)
    }

    var defaultValueDescription: String { name }

    static let help = ArgumentHelp(
        "The database: an SQLite file, or a URL such as postgres://user@host/name.",
        valueName: "path or URL")

    static let standard = DatabaseArgument(argument: "tenure.sqlite")

    var isPostgres: Bool { PostgresAddress.isPostgres(text) }

    /// The name to show, without the password that a URL may contain.
    var name: String {
        guard isPostgres else { return text }
        return (try? PostgresAddress(text))?.description ?? "the PostgreSQL database"
    }

    /// Whether both name the same database, also if spelled differently.
    func isSame(as other: DatabaseArgument) -> Bool {
        self == other || (!isPostgres && !other.isPostgres && SQLiteDatabase.areSame(text, other.text))
    }

    /// Opens the database and brings it up to date. Makes a missing file only if `making`.
    func open(making: Bool) async throws -> Store {
        if isPostgres { return Store(try await PostgresDatabase(PostgresAddress(text))) }
        guard making || FileManager.default.fileExists(atPath: text) else {
            throw CommandError("there is no database at `\(text)`; name your service's database with --database")
        }
        return Store(try SQLiteDatabase(path: text, making: making))
    }
}

/// The option that all commands for the database share.
struct DatabaseOption: ParsableArguments {
    @Option(help: DatabaseArgument.help)
    var database: DatabaseArgument = .standard
}
