/// Knows whether the database can be written: from a *probe*, a small write that changes nothing, and from recent
/// failures of other writes.
actor WriteHealth {
    /// The last probe, and when it began.
    private var probe: (task: Task<StoreError?, Never>, began: ContinuousClock.Instant)?
    /// Whether the last probe is still running.
    private var isProbing = false
    /// When the last successful probe began; before that, when this object was created.
    private var lastSuccess = ContinuousClock.now
    /// The last failure that `note` recorded.
    private var lastFailure: (error: StoreError, at: ContinuousClock.Instant)?

    /// A probe that began less than this time ago isn't repeated. Callers get its result.
    private static let interval = Duration.seconds(1)
    /// How long a failed write counts, even if probes succeed: a small probe may fit on a disk that is too full for a
    /// sync (an app's request with new artifacts).
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
