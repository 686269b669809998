import Foundation

/// Whether the database can be written: what a probe found, and what recent writes met.
actor WriteHealth {
    private var probe: (task: Task<StoreError?, Never>, began: ContinuousClock.Instant)?
    private var isProbing = false
    private var lastSuccess = ContinuousClock.now
    private var lastFailure: (error: StoreError, at: ContinuousClock.Instant)?

    /// Callers within this time share one probe.
    private static let interval = Duration.seconds(1)
    /// A small probe fits on a full disk where a sync doesn't.
    private static let failuresCount = Duration.seconds(30)
    /// For so long others may lock what a sync writes: a publication does.
    private static let locksMayLast = Duration.seconds(10)

    /// Notes that a write failed. Only failures that last count, because any write can meet another one.
    func note(_ error: StoreError) {
        switch error {
        case .full, .readOnly: lastFailure = (error, .now)
        default: break
        }
    }

    /// Returns why the database can't be written; nil if it can.
    func failure(_ write: @escaping @Sendable () async -> StoreError?) async -> StoreError? {
        let found = await result(of: write)
        if let lastFailure, .now - lastFailure.at < Self.failuresCount { return lastFailure.error }
        if found == .busy, .now - lastSuccess < Self.locksMayLast { return nil }
        return found
    }

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
                // Not `write`, so that only other writes count as recent failures.
                try await database.write(locking: [.progress(DatabaseTransaction.probe)]) {
                    session throws(StoreError) in
                    try DatabaseTransaction(session).tryToWrite()
                }
                return nil
            } catch {
                return error
            }
        }
    }
}

extension DatabaseTransaction {
    static let probe = "probe"

    /// What a sync writes.
    private static let tables = [
        "artifacts", "customers", "devices", "events", "headers", "identities", "jobs", "outbox", "promises",
    ]

    /// Takes the locks of a sync, needs its rights, and writes a row that it removes again.
    func tryToWrite() throws(StoreError) {
        for table in Self.tables {
            try session.execute("INSERT INTO \(table) SELECT * FROM \(table) WHERE 1 = 0")
        }
        try session.execute("UPDATE customers SET realm = realm WHERE 1 = 0")
        try setProgress(Self.probe, to: String(now.millisecondsSince1970))
        try setProgress(Self.probe, to: nil)
    }
}
