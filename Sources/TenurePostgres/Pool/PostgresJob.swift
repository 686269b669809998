import TenureStore

/// Something to do on a connection, for somebody who waits.
///
/// Either `run` returns, once, or `fail` is called, once: whoever waits hears of it in both.
struct PostgresJob: Sendable {
    /// Until when it may wait for a connection.
    let deadline: ContinuousClock.Instant
    let run: @Sendable (PostgresConnection) throws(PostgresFailure) -> Void
    let fail: @Sendable (StoreError) -> Void
}
