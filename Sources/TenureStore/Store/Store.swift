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

    /// Runs a transaction, and turns every other error into a `StoreError`.
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

/// Knows whether the database can be written: from a *probe*, a small write that changes nothing, and from recent
/// failures of other writes.
actor WriteHealth {
    /// The last probe, and when it began.
    private var probe: (task: Task<StoreError?, Never>, began: ContinuousClock.Instant)?
    /// Whether the last probe is still running.
    private var isProbing = false
    /// When the last successful probe began.
    private var lastSuccess = ContinuousClock.now
    /// The last failure of a write other than a probe that `note` recorded.
    private var lastFailure: (error: StoreError, at: ContinuousClock.Instant)?

    /// A probe that began less than this time ago isn't repeated. Callers get its result.
    private static let interval = Duration.seconds(1)
    /// How long a failed write counts, even if probes succeed: a small probe may fit on a disk that is too full for a
    /// sync.
    private static let failureLifetime = Duration.seconds(30)
    /// How long another transaction, such as one that publishes a policy, may lock the tables before that counts as a
    /// failure.
    private static let maximumLockDuration = Duration.seconds(10)

    /// Records the error of a failed write, if other writes will probably fail too. Other errors, such as `busy`, may
    /// concern a single write, and are ignored.
    func note(_ error: StoreError) {
        switch error {
        case .full, .readOnly: lastFailure = (error, .now)
        default: break
        }
    }

    /// Returns why the database can't be written; nil if it can. `write` is the probe.
    func failure(_ write: @escaping @Sendable () async -> StoreError?) async -> StoreError? {
        let found = await result(of: write)
        if let lastFailure, .now - lastFailure.at < Self.failureLifetime { return lastFailure.error }
        if found == .busy, .now - lastSuccess < Self.maximumLockDuration { return nil }
        return found
    }

    /// Returns the result of a probe, which callers within `interval` share.
    private func result(of write: @escaping @Sendable () async -> StoreError?) async -> StoreError? {
        if let probe, isProbing || .now - probe.began < Self.interval { return await probe.task.value }
        let began = ContinuousClock.now
        let task = Task { await write() }
        probe = (task, began)
        isProbing = true
        let error = await task.value
        isProbing = false
        if error == nil { lastSuccess = began }
        return error
    }
}

extension Store {
    /// Returns why the database can't be written; nil if it can. Commits a write at most once a second.
    package func writeFailure() async -> StoreError? {
        await health.failure {
            do throws(StoreError) {
                // This calls the database directly, so that a failed probe doesn't count as a failed write.
                try await database.write(locking: [.progress(DatabaseTransaction.probe)]) {
                    session throws(StoreError) in try DatabaseTransaction(session).tryToWrite()
                }
                return nil
            } catch {
                return error
            }
        }
    }
}

extension DatabaseTransaction {
    /// The name of the row in `progress` that a probe writes and removes.
    static let probe = "probe"

    /// The tables that a sync writes.
    private static let tables = [
        "artifacts", "customers", "devices", "events", "headers", "identities", "jobs", "outbox", "promises",
    ]

    /// Tries what a sync needs: the locks on its tables, the database role's rights to write to them, and room on the
    /// disk. Writes a row and removes it again.
    func tryToWrite() throws(StoreError) {
        for table in Self.tables { try session.execute("INSERT INTO \(table) SELECT * FROM \(table) WHERE 1 = 0") }
        try session.execute("UPDATE customers SET realm = realm WHERE 1 = 0")
        try setStoredValue(named: Self.probe, to: String(now.millisecondsSince1970))
        try setStoredValue(named: Self.probe, to: nil)
    }
}
