import TenureStore

/// Work that waits for a connection.
///
/// A job ends once: `run` returns, or `fail` is called. Before that, `run` may throw because its connection broke, and
/// is called again.
struct PostgresJob: Sendable {
    /// The end of the wait for a connection.
    let deadline: ContinuousClock.Instant
    let run: @Sendable (PostgresConnection) throws(PostgresFailure) -> Void
    let fail: @Sendable (StoreError) -> Void
}
