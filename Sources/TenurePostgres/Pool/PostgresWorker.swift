import Dispatch

/// A dispatch queue with a connection. The calls of libpq, PostgreSQL's C library, block their thread, so they run on
/// this queue, and never on the threads of Swift tasks.
final class PostgresWorker: @unchecked Sendable {
    // `@unchecked Sendable` is correct: `connection` is used only in blocks on `queue`, which run one after the other.
    // `Locked` would block other threads while libpq waits for a response. The other variables are used only while the
    // lock of `PostgresWorkers` is held, which guards all workers together.
    let queue: DispatchQueue
    var connection: PostgresConnection?
    /// The servers, database and role to which the worker is connected; nil without a connection.
    var cluster: PostgresCluster?
    /// The time when the worker connected to `cluster`.
    var connectedAt = ContinuousClock.now
    /// The time when the worker became idle.
    var idleSince = ContinuousClock.now

    init(number: Int) { queue = DispatchQueue(label: "tenure.postgres.\(number)") }
}
