import Dispatch

/// A queue with a connection that is used on it only: calls of libpq block, and Swift's own threads never wait for one.
final class PostgresWorker: @unchecked Sendable {
    // Sound: `connection` and `backoff` are touched in blocks on `queue` only, which runs one after the other.
    let queue: DispatchQueue
    var connection: PostgresConnection?
    var backoff = Backoff()

    init(number: Int) {
        queue = DispatchQueue(label: "tenure.postgres.\(number)")
    }
}
