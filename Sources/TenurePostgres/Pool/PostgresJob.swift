import TenureStore

/// Work that needs a connection, such as one transaction.
///
/// A job ends once: `run` returns, or `fail` is called. If `run` throws because its connection broke, it is called
/// again, with another connection.
struct PostgresJob: Sendable {
    /// The instant until which the job waits for a connection, or is repeated.
    let deadline: ContinuousClock.Instant
    let run: @Sendable (PostgresConnection) throws(PostgresFailure) -> Void
    let fail: @Sendable (StoreError) -> Void
}
