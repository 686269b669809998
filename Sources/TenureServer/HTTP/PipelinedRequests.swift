import NIOCore
import NIOHTTPTypes

/// What a client has sent on one connection after a complete request, until the response to that request is sent and
/// the connection has its turn (see `PipeliningTurns`).
struct PipelinedRequests {
    /// An event from the client that is passed on later.
    enum Event {
        case part(HTTPRequestPart)
        /// What the client sent can't be parsed, or the connection failed.
        case error(any Error)
        /// The client sends nothing more.
        case inputClosed
    }

    private var events = CircularBuffer<Event>()
    /// The number of the requests, and the memory of all events in bytes.
    private var (requests, bytes) = (0, 0)

    /// The limits of a connection. No well-behaved client sends that many requests before it reads a response.
    private static let maximum = (requests: 2_000, bytes: 1 << 20)

    var isEmpty: Bool { events.isEmpty }

    /// Whether the client has sent so much that its connection is to be closed.
    var isOverLimit: Bool { requests > Self.maximum.requests || bytes > Self.maximum.bytes }

    mutating func append(_ event: Event) {
        events.append(event)
        count(event, times: 1)
    }

    mutating func popFirst() -> Event? {
        guard let event = events.popFirst() else { return nil }
        count(event, times: -1)
        return event
    }

    mutating func removeAll() { self = PipelinedRequests() }

    /// Adds an event to `requests` and `bytes`, or removes the event from these numbers if `times` is -1.
    private mutating func count(_ event: Event, times: Int) {
        bytes += times * MemoryLayout<Event>.stride
        switch event {
        case .part(.head): requests += times
        case .part(.body(let body)): bytes += times * body.readableBytes
        case .part(.end), .error, .inputClosed: break
        }
    }
}
