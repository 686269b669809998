import NIOCore
import NIOHTTPTypes
import NIOPosix

/// Keeps pipelined requests on an event loop from delaying the requests of other connections.
///
/// NIO reads its sockets only when no task is left on the event loop, and each response adds tasks. If a connection's
/// next request followed each response at once, clients that have sent a thousand requests would get all of their
/// responses before NIO reads from any other connection.
///
/// So pipelined requests are passed on in turns. A turn passes on one request of each of the connections that have
/// waited longest. The next turn begins a millisecond after the last response of this turn, or after 50 ms if a
/// response takes longer. Between two turns, NIO reads the other sockets.
final class PipeliningTurns: Sendable {
    /// Passes on the next request of a connection, in the turn with this number.
    typealias PassOn = (_ turn: Int) -> Void

    private struct State {
        /// What to do in the next turns, the longest waiting connection first.
        var waiting: [PassOn] = []
        /// The task that begins the next turn; nil if no connection waits for a turn.
        var beginning: Scheduled<Void>?
        /// The number of the current turn.
        var turn = 0
        /// How many requests of the current turn don't have their response yet. Requests of earlier turns aren't
        /// included.
        var unanswered = 0
    }

    /// The turns of each event loop. An event loop is a thread.
    private static let current = ThreadSpecificVariable<PipeliningTurns>()

    private let eventLoop: any EventLoop
    private let state: NIOLoopBoundBox<State>

    /// The maximum number of requests in one turn, so that other connections don't wait long for its end.
    private static let maximumRequests = 64
    /// The time between the last response of a turn and the next turn.
    private static let pause = TimeAmount.milliseconds(1)
    /// How long the next turn waits for the responses of this turn. A response may be long, or its client may be slow,
    /// so the next turn doesn't wait for all responses.
    private static let maximumWait = TimeAmount.milliseconds(50)

    /// Creates the turns of an event loop; `of` does so once for each event loop.
    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        state = NIOLoopBoundBox(State(), eventLoop: eventLoop)
    }

    /// The turns of an event loop. Called on this event loop, as the other methods are.
    static func of(_ eventLoop: any EventLoop) -> PipeliningTurns {
        eventLoop.preconditionInEventLoop()
        if let turns = current.currentValue { return turns }
        let turns = PipeliningTurns(eventLoop)
        current.currentValue = turns
        return turns
    }

    /// Lets a connection wait for a turn. Calls `passOn` in that turn. After that, the connection must call `finish`
    /// with the turn's number.
    func wait(_ passOn: @escaping PassOn) {
        state.value.waiting.append(passOn)
        if state.value.beginning == nil { beginTurn(in: state.value.unanswered == 0 ? Self.pause : Self.maximumWait) }
    }

    /// Called when a request of this turn has its response, or its connection is closed.
    func finish(_ turn: Int) {
        guard turn == state.value.turn else { return }
        state.value.unanswered -= 1
        guard state.value.unanswered == 0, let beginning = state.value.beginning else { return }
        beginning.cancel()
        beginTurn(in: Self.pause)
    }

    /// Schedules the next turn.
    private func beginTurn(in time: TimeAmount) {
        state.value.beginning = eventLoop.scheduleTask(in: time) { self.passOnRequests() }
    }

    /// Begins the next turn: passes on the requests of the connections that have waited longest.
    private func passOnRequests() {
        let passOns = state.value.waiting.prefix(Self.maximumRequests)
        state.value.waiting.removeFirst(passOns.count)
        state.value.turn += 1
        state.value.unanswered = passOns.count
        // The loop may already run a canceled task and the task that replaced it, one after the other.
        state.value.beginning?.cancel()
        state.value.beginning = nil
        if !state.value.waiting.isEmpty { beginTurn(in: Self.maximumWait) }
        for passOn in passOns { passOn(state.value.turn) }
    }
}

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
