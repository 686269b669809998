package import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureStore

/// Stores the state of a local App Store in one SQLite file, as a journal of operations.
///
/// The first row is the header with the initial state. Each further row is an operation, or the outcome of an attempt
/// to deliver a notification. `state()` repeats all rows: the same seed and operations give the same state in every
/// run.
package struct Journal: Sendable {
    /// The contents of a row after the header.
    enum Entry: Sendable {
        case operation(AppStoreOperation)
        /// The outcome of an attempt to deliver the notification with this index in `AppStoreState.notifications`.
        case attempt(notification: Int, SendAttemptResult)
    }

    private let path: String
    /// The open database; nil after `close`.
    private let database: Locked<SQLiteConnection?>

    /// The version of the file's format that this release writes, in SQLite's `user_version`.
    private static let version = 1

    /// Opens a journal. A new file gets `header` as its first row. For an existing file, `header` isn't evaluated.
    /// Throws a `JournalError`, or what `header` throws.
    package init(path: String, header: @autoclosure () throws -> JournalHeader) throws {
        self.path = path
        do {
            let connection = try SQLiteConnection(path: path, for: .creating)
            database = Locked(connection)
            guard try connection.row("PRAGMA user_version")?.integer(0) ?? 0 <= Self.version else {
                throw JournalError(
                    "`\(path)` was written by a newer release of Tenure; use that release, or another file")
            }
            guard try connection.row("SELECT 1 FROM sqlite_master WHERE name = 'journal'") == nil else { return }
            let header = String(decoding: try JSONEncoder().encode(try header()), as: UTF8.self)
            try connection.transaction { () throws(StoreError) in
                try connection.execute("PRAGMA user_version = \(Self.version)")
                try connection.execute("CREATE TABLE journal (id INTEGER PRIMARY KEY, entry TEXT NOT NULL) STRICT")
                try connection.execute("INSERT INTO journal (entry) VALUES ($1)", [.text(header)])
            }
        } catch let error as StoreError {
            throw JournalError(path: path, error)
        }
    }

    /// Repeats all entries on the initial state, and returns the result. Throws a `JournalError`.
    package func state() throws -> AppStoreState {
        let rows = try withConnection { connection throws(StoreError) in
            try connection.rows("SELECT entry FROM journal ORDER BY id").map { row throws(StoreError) in try row.text(0)
            }
        }
        guard let first = rows.first, let header = try? JSONDecoder().decode(JournalHeader.self, from: Data(first.utf8))
        else { throw JournalError("`\(path)` doesn't begin with a header; use another file") }
        var state = header.state
        for (index, row) in rows.enumerated().dropFirst() {
            do {
                try Entry(row).perform(in: &state)
            } catch {
                throw JournalError("`\(path)`: entry \(index + 1) can't be repeated (\(error)); use another file")
            }
        }
        return state
    }

    /// Appends all entries or none.
    func append(_ entries: [Entry]) throws {
        guard !entries.isEmpty else { return }
        try withConnection { connection throws(StoreError) in
            try connection.transaction { () throws(StoreError) in
                // A running clock replaces its last entry instead of adding an entry each second. The JSON of an
                // operation begins with the member `operation`.
                if entries.count == 1, case .operation(let operation) = entries[0], operation.kind == .advance {
                    let changed = try connection.execute(
                        """
                        UPDATE journal SET entry = $1 WHERE id = (SELECT max(id) FROM journal)
                        AND entry LIKE '{"operation":"advance"%'
                        """, [.text(entries[0].text)])
                    if changed > 0 { return }
                }
                for entry in entries {
                    try connection.execute("INSERT INTO journal (entry) VALUES ($1)", [.text(entry.text)])
                }
            }
        }
    }

    /// Closes the file. Every later use throws a `JournalError`.
    package func close() { database.withLock { $0 = nil } }

    /// Runs `body` with the open database. Throws a `JournalError`.
    private func withConnection<Value: Sendable>(
        _ body: (SQLiteConnection) throws(StoreError) -> Value
    ) throws -> Value {
        do {
            return try database.withLock { connection in
                guard let connection else { throw StoreError.failed("it is closed; open the file again") }
                return try body(connection)
            }
        } catch let error as StoreError {
            throw JournalError(path: path, error)
        }
    }
}

/// The header of a journal: everything that the initial state is made from.
package struct JournalHeader: Codable, Sendable {
    /// The seed of the IDs: the same seed gives the same IDs.
    var seed: String
    var environment: AppStoreEnvironment = .production
    package var now: Date
    package var apps: [AppStoreApp]
    /// The lengths of periods in the sandbox; nil for Apple's lengths.
    var sandboxPeriods: SandboxPeriods?

    /// The initial state.
    package var state: AppStoreState {
        AppStoreState(
            seed: seed, environment: environment, startingAt: now, apps: apps,
            sandboxPeriods: sandboxPeriods ?? SandboxPeriods())
    }
}

/// Why a journal can't be opened, read or written.
struct JournalError: Error, Sendable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = "the journal can't be used: \(description)" }

    init(path: String, _ error: StoreError) { self.init("`\(path)`: \(error)") }
}

extension Journal.Entry {
    /// The entry as JSON, as a row stores it.
    var text: String {
        var object: JSONObject
        switch self {
        case .operation(let operation): object = operation.json
        case .attempt(let notification, let result):
            object = JSONObject()
            object["attempt"] = .string(result.rawValue)
            object["notification"] = .number(String(notification))
        }
        return String(decoding: JSONValue.object(object).bytes, as: UTF8.self)
    }

    /// Repeats the operation, or records the outcome of the delivery again.
    fileprivate func perform(in state: inout AppStoreState) throws {
        switch self {
        case .operation(let operation): try state.perform(operation)
        case .attempt(let notification, let result):
            guard state.notifications.indices.contains(notification) else { throw Self.unreadable }
            state.recordAttempt(result, of: notification)
        }
    }

    private static let unreadable = OperationMistake("it can't be read")

    /// Reads an entry from a row's JSON.
    init(_ text: String) throws {
        guard case .object(let object) = try? JSONValue(parsing: Array(text.utf8)) else { throw Self.unreadable }
        if let outcome = object.text("attempt") {
            guard let result = SendAttemptResult(rawValue: outcome), let number = object.integer("notification") else {
                throw Self.unreadable
            }
            self = .attempt(notification: number, result)
        } else {
            self = .operation(try AppStoreOperation(object))
        }
    }
}
