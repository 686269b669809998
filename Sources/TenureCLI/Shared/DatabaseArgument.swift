import ArgumentParser
import Foundation
import TenureCore
import TenurePostgres
import TenureServer
import TenureStore

/// The database that a command uses: the path of an SQLite file, or the URL of a PostgreSQL database.
struct DatabaseArgument: ExpressibleByArgument, Sendable, Hashable {
    /// The path or URL. It is secret, because a URL may contain a password.
    private let argument: Secret<String>
    var text: String { argument.revealed }

    init(argument: String) { self.argument = Secret(argument) }

    var defaultValueDescription: String { name }

    var isPostgres: Bool { PostgresAddress.isPostgres(text) }

    /// The file of an SQLite database, and the files that SQLite puts in the same folder.
    var files: [String] { isPostgres ? [] : ["", "-wal", "-shm", "-journal"].map { text + $0 } }

    /// Whether the text is a URL of another kind of database than PostgreSQL.
    private var isUnknownURL: Bool { !isPostgres && text.contains("://") }

    /// Returns the database. Throws if the text is a URL of an unknown kind, or a list of options such as `host=…
    /// dbname=…`. The error doesn't repeat the text, which may contain a password.
    func checked() throws -> DatabaseArgument {
        guard !ConnectionString.matches(text) else { throw CommandError(ConnectionString.objection) }
        guard isUnknownURL else { return self }
        throw CommandError(
            "the database is a URL of an unknown kind; write `postgres://…`, or the path of an SQLite file")
    }

    /// The name to show, without the password that a URL may contain.
    var name: String {
        guard isPostgres else { return isUnknownURL || ConnectionString.matches(text) ? "the database" : text }
        return (try? PostgresAddress(text))?.description ?? "the PostgreSQL database"
    }

    /// Whether both arguments name the same database. Two SQLite paths may be spelled differently. Two PostgreSQL URLs
    /// count as the same only if their texts are equal.
    func isSame(as other: DatabaseArgument) -> Bool {
        self == other || (!isPostgres && !other.isPostgres && SQLiteDatabase.areSame(text, other.text))
    }

    /// The name for messages that are read on another machine: the host, database and schema, or the absolute path.
    var fullName: String {
        guard isPostgres else { return URL(fileURLWithPath: text).standardizedFileURL.path }
        return (try? PostgresAddress(text))?.fullName ?? name
    }

    /// Opens the database.
    ///
    /// - Parameters:
    ///   - opening: whether the database must exist, and of which app it must be.
    ///   - primary: the file that records which PostgreSQL server was the primary (the server that accepts writes). Nil
    ///     without such a file.
    func open(_ opening: DatabaseOpening, primary: PrimaryFile? = nil) async throws -> Store {
        _ = try checked()
        if isPostgres {
            return Store(try await PostgresDatabase(PostgresAddress(text), opening, storage: primary?.storage))
        }
        guard opening.creates || FileManager.default.fileExists(atPath: text) else {
            throw CommandError("there is no database at `\(text)`; name your service's database with --database")
        }
        return Store(try SQLiteDatabase(path: text, opening))
    }
}
