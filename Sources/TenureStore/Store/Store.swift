package import Foundation

/// The operations of one transaction.
package typealias TransactionBody<Value> = @Sendable (DatabaseTransaction) throws -> Value

/// The service's database: signed artifacts, the changes that people made, and the facts that follow from both.
///
/// `read` and `write` run one transaction each, in which `DatabaseTransaction` has a method for every operation.
/// `Store` itself has only the operations that take several transactions.
package struct Store: Sendable {
    package let database: any Database
    /// Locks for operations that take several transactions.
    let namedLocks = NamedLocks()
    /// Knows whether the database can be written.
    let health = WriteHealth()

    package init(_ database: any Database) { self.database = database }

    /// The 16 random bytes that identify the database; see `Database.id`.
    package var databaseID: [UInt8] { database.id }

    /// Runs one transaction that reads one state of the database, without waiting for writers.
    @discardableResult package func read<Value: Sendable>(
        at now: Date = Date(), _ body: @escaping TransactionBody<Value>
    ) async throws(StoreError) -> Value {
        try await database.read { session throws(StoreError) in try Self.run(body, in: session, at: now) }
    }

    /// Runs one transaction that writes. When this returns, the database has flushed all of it; when it throws, nothing
    /// changed.
    ///
    /// `body` may run again: PostgreSQL repeats a transaction that conflicts with another. Logs, metrics and other side
    /// effects belong after the call.
    ///
    /// - Parameter keys: transactions with a key in common run one after the other.
    @discardableResult package func write<Value: Sendable>(
        at now: Date = Date(), locking keys: [LockKey] = [], _ body: @escaping TransactionBody<Value>
    ) async throws(StoreError) -> Value {
        do throws(StoreError) {
            return try await database.write(locking: keys) { session throws(StoreError) in
                try Self.run(body, in: session, at: now)
            }
        } catch {
            await health.note(error)
            throw error
        }
    }

    /// Runs a transaction. An error that isn't a `StoreError` becomes one.
    private static func run<Value>(
        _ body: TransactionBody<Value>, in session: any DatabaseSession, at now: Date
    ) throws(StoreError) -> Value {
        do {
            return try body(DatabaseTransaction(session, at: now))
        } catch {
            throw StoreError(error)
        }
    }

    /// Returns the customer with this row ID, or the one into which it was merged; see `Database.lookUp`.
    package func lookUp(_ id: Int64) async throws(StoreError) -> Customer? { try await database.lookUp(id) }

    /// Returns what happened if the database's file was replaced; otherwise nil. See `Database.replacementReport`.
    package func replacementReport() async -> String? { await database.replacementReport() }

    /// Closes all connections. The store can't be used afterward.
    package func close() async throws(StoreError) { try await database.close() }
}
