import Dispatch

/// A dispatch queue with a connection. libpq's calls block, so they run on this queue, and never on Swift's own
/// threads.
final class PostgresWorker: @unchecked Sendable {
    // Sound: `connection` and `backoff` are touched in blocks on `queue` only, which runs one after the other.
    let queue: DispatchQueue
    var connection: PostgresConnection?
    var backoff = Backoff()

    init(number: Int) {
        queue = DispatchQueue(label: "tenure.postgres.\(number)")
    }
}
