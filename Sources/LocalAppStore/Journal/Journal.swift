package import Foundation
import GRDB
import TenureAppStore
package import TenureCore
import TenureJSON

/// Stores the state in one SQLite file, as a journal of what happened.
/// The first row is the header; each further one is an operation or the outcome of a delivery. Opening the file repeats
/// them: a seed and operations have the same result in every run.
package struct Journal: Sendable {
    enum Entry: Sendable {
        case operation(AppStoreOperation)
        case attempt(notification: Int, SendAttemptResult)
    }

    private let queue: DatabaseQueue

    /// The format of this release, in SQLite's `user_version`. The first release wrote 0.
    private static let version = 1

    /// Opens a journal, or begins one with the header `header`. Throws a `JournalError`.
    package init(path: String, header: @autoclosure () throws -> JournalHeader) throws {
        do {
            queue = try DatabaseQueue(path: path)
            try queue.write { db in
                let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                guard version <= Self.version else {
                    throw JournalError(
                        "`\(path)` was written by a newer release of Tenure; use that one, or another file")
                }
                if version < Self.version { try db.execute(sql: "PRAGMA user_version = \(Self.version)") }
                try db.execute(
                    sql: """
                        CREATE TABLE IF NOT EXISTS journal (id INTEGER PRIMARY KEY, entry TEXT NOT NULL) STRICT
                        """)
                if try Int.fetchOne(db, sql: "SELECT count(*) FROM journal") == 0 {
                    let header = String(decoding: try JSONEncoder().encode(try header()), as: UTF8.self)
                    try db.execute(sql: "INSERT INTO journal (entry) VALUES (?)", arguments: [header])
                }
            }
        } catch let error as DatabaseError {
            throw JournalError(path: path, error)
        }
    }

    /// The state at the last entry. Throws a `JournalError`.
    package func state() throws -> AppStoreState {
        do {
            return try queue.read { db in
                let rows = try String.fetchCursor(db, sql: "SELECT entry FROM journal ORDER BY id")
                guard let first = try rows.next(),
                    let header = try? JSONDecoder().decode(JournalHeader.self, from: Data(first.utf8))
                else { throw JournalError("it doesn't begin with a header; use another file") }
                var state = header.state
                var count = 1
                while let row = try rows.next() {
                    count += 1
                    do {
                        try Entry(row).perform(in: &state)
                    } catch {
                        throw JournalError("entry \(count) can't be repeated (\(error)); use another file")
                    }
                }
                return state
            }
        } catch let error as DatabaseError {
            throw JournalError(path: queue.path, error)
        }
    }

    /// Writes all entries or none.
    func append(_ entries: [Entry]) throws {
        guard !entries.isEmpty else { return }
        do {
            try queue.write { db in
                // A running clock overwrites its last time.
                if entries.count == 1, case .operation(let operation) = entries[0], operation.kind == .advance {
                    try db.execute(
                        sql: """
                            UPDATE journal SET entry = ? WHERE id = (SELECT max(id) FROM journal)
                            AND entry LIKE '{"operation":"advance"%'
                            """, arguments: [entries[0].text])
                    if db.changesCount > 0 { return }
                }
                let insert = try db.makeStatement(sql: "INSERT INTO journal (entry) VALUES (?)")
                for entry in entries { try insert.execute(arguments: [entry.text]) }
            }
        } catch let error as DatabaseError {
            throw JournalError(path: queue.path, error)
        }
    }

    /// The number of entries, including the header.
    package var count: Int {
        get throws { try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM journal") ?? 0 } }
    }

    package func close() throws { try queue.close() }
}

/// The header: how a state begins.
package struct JournalHeader: Codable, Sendable {
    package var seed: String
    package var environment: AppStoreEnvironment
    package var now: Date
    package var apps: [StoreApp]
    /// Nil: Apple's.
    package var sandboxPeriods: SandboxPeriods?

    package init(
        seed: String, environment: AppStoreEnvironment = .production, now: Date, apps: [StoreApp],
        sandboxPeriods: SandboxPeriods? = nil
    ) {
        self.seed = seed
        self.environment = environment
        self.now = now
        self.apps = apps
        self.sandboxPeriods = sandboxPeriods
    }

    package var state: AppStoreState {
        AppStoreState(
            seed: seed, environment: environment, startingAt: now, apps: apps,
            sandboxPeriods: sandboxPeriods ?? SandboxPeriods())
    }
}

package struct JournalError: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = "the journal can't be used: \(description)"
    }

    init(path: String, _ error: DatabaseError) {
        self.init("`\(path)`: \(error.message ?? "SQLite error \(error.resultCode.rawValue)")")
    }
}

extension Journal.Entry {
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

    fileprivate func perform(in state: inout AppStoreState) throws {
        switch self {
        case .operation(let operation): try state.perform(operation)
        case .attempt(let notification, let result):
            guard state.notifications.indices.contains(notification) else { throw Unreadable() }
            state.recordAttempt(result, of: notification)
        }
    }

    private struct Unreadable: Error, CustomStringConvertible {
        let description = "it can't be read"
    }

    init(_ text: String) throws {
        guard case .object(let object) = try? JSONValue(parsing: Array(text.utf8)) else { throw Unreadable() }
        if case .string(let word)? = object["attempt"] {
            guard let result = SendAttemptResult(rawValue: word), case .number(let digits)? = object["notification"],
                let number = Int(digits)
            else { throw Unreadable() }
            self = .attempt(notification: number, result)
        } else {
            self = .operation(try AppStoreOperation(object))
        }
    }
}
