import TenureStore

/// Work that waits for a connection.
///
/// Either `run` returns once, or `fail` is called once.
struct PostgresJob: Sendable {
    /// The end of the wait for a connection.
    let deadline: ContinuousClock.Instant
    let run: @Sendable (PostgresConnection) throws(PostgresFailure) -> Void
    let fail: @Sendable (StoreError) -> Void
}
