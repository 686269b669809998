import Dispatch

/// A dispatch queue with a connection. libpq's calls block, so they run on this queue, and never on Swift's own
/// threads.
final class PostgresWorker: @unchecked Sendable {
    // Sound: `connection` is touched in blocks on `queue` only, which runs one after the other. The other variables are
    // touched under the lock of `PostgresWorkers` only.
    let queue: DispatchQueue
    var connection: PostgresConnection?
    /// The servers, database and role to which it's connected.
    var home: PostgresCluster?
    /// Since when it serves them without a break.
    var since = ContinuousClock.now
    /// When it ran out of work.
    var idleSince = ContinuousClock.now

    init(number: Int) {
        queue = DispatchQueue(label: "tenure.postgres.\(number)")
    }
}
