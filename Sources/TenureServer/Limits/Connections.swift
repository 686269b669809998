import Dispatch
import HummingbirdCore
import NIOCore
import TenureCore

/// The open connections of the service. If there are too many, in total or from one address, the service closes one of
/// them and accepts the new connection.
///
/// The service closes the first of these connections that exists:
/// - the connection that has been idle for longest
/// - the connection that sends its request slowest
/// - a connection with a client that has read nothing of the response for ten seconds
/// - if responses take more than three quarters of the connections: the connection with the slowest reader, in the
///   network with most connections
///
/// A request that waits for its response is never aborted. Usually, a new connection has a second to begin its first
/// request, and a request has a second to arrive. If an address is at its limit and none of its connections can be
/// closed, the new connection is closed. If the service is at its limit and no connection can be closed, new
/// connections wait.
final class Connections: AvailableConnectionsDelegate, Sendable {
    private let state: Locked<State>
    /// The networks of the proxies in the configuration, which have no limit per address.
    private let proxies: [AddressBlock]
    /// Called with the phase of each connection that is closed to make room.
    private let onClose: @Sendable (ConnectionPhase) -> Void

    /// One open connection.
    final class Connection: @unchecked Sendable {
        // The lock of `Connections` guards the variables of all connections. A separate lock for each connection isn't
        // enough, because a change of a queue also changes the neighbors.

        /// The networks to which the client's address belongs, each with its own limit of connections; empty for
        /// clients without a limit.
        fileprivate let networks: [ClientNetwork]
        /// Ends the connection.
        fileprivate let close: @Sendable () -> Void
        fileprivate var phase = ConnectionPhase.idle
        /// The uptime in nanoseconds at which the phase began, or at which the client last read a part of the response.
        fileprivate var since: UInt64
        /// The bytes that arrived of the request's body; nil unless a request is arriving.
        fileprivate var receivedBytes: RecentBytes?
        /// The bytes of responses that were sent. Pipelined responses are measured as one response, because each short
        /// response would seem new.
        fileprivate var sentBytes: RecentBytes?
        /// Whether a request has begun on the connection.
        fileprivate var hadRequest = false
        /// Whether the limits include the connection: it isn't closed, and wasn't chosen to be closed.
        fileprivate var isCounted = true
        /// The next connection in the queue of all connections in the same phase, and the previous one.
        fileprivate var next: Connection?
        fileprivate weak var previous: Connection?

        fileprivate init(networks: [ClientNetwork], at now: UInt64, close: @escaping @Sendable () -> Void) {
            self.networks = networks
            self.close = close
            since = now
        }
    }

    /// The age in nanoseconds below which a connection is never called slow or idle.
    fileprivate static let oldAge: UInt64 = 1_000_000_000
    /// The time in nanoseconds after which a client that reads nothing of its response is stalled.
    fileprivate static let stallTime: UInt64 = 10_000_000_000
    /// The number of connections that are compared: those with the oldest requests, and those with responses that went
    /// unread for longest.
    fileprivate static let maximumCompared = 64

    /// - Parameters:
    ///   - limit: The maximum number of connections of the service.
    ///   - limitPerAddress: The maximum for one address. A number above a quarter of `limit` is reduced to that
    ///     quarter, but not below 1. A /48 of IPv6 may have four times as many, but at most half of `limit`.
    ///   - proxies: Addresses without a limit, because they pass on the requests of many clients.
    ///   - bodyWindow: The seconds over which the rate of a body is measured.
    ///   - onClose: Called with the phase of each connection that is closed to make room.
    init(
        limit: Int, limitPerAddress: Int, proxies: [AddressBlock] = [], bodyWindow: Int = 10,
        onClose: @escaping @Sendable (ConnectionPhase) -> Void = { _ in }
    ) {
        state = Locked(
            State(limit: limit, limitPerAddress: max(1, min(limitPerAddress, limit / 4)), bodyWindow: bodyWindow))
        self.proxies = proxies
        self.onClose = onClose
    }

    /// The system's uptime in nanoseconds, the default of `now` in all methods.
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    // MARK: The life of a connection

    /// Counts a new connection, and closes connections if there are too many, perhaps the new one. To close the new
    /// connection, this type calls `close` at most once, on any thread, and perhaps before this method returns.
    func open(
        from address: NetworkAddress?, at now: UInt64 = now, close: @escaping @Sendable () -> Void
    ) -> Connection {
        let connection = Connection(networks: networks(of: address), at: now, close: close)
        end(state.withLock { $0.add(connection, at: now) })
        return connection
    }

    /// Stops counting a connection that has been closed.
    func close(_ connection: Connection) { state.withLock { $0.forget(connection) } }

    /// Stores what a connection does now. Closes connections if there are too many, because one of them may be idle
    /// now.
    func enter(_ phase: ConnectionPhase, _ connection: Connection, at now: UInt64 = now) {
        end(state.withLock { $0.enter(phase, connection, at: now) })
    }

    /// Counts bytes of a request's body.
    func countReceived(_ bytes: Int, _ connection: Connection, at now: UInt64 = now) {
        state.withLock { _ in connection.receivedBytes?.add(bytes, at: now) }
    }

    /// Returns how many bytes of the request's body arrived within the last `bodyWindow` seconds.
    func recentlyReceived(_ connection: Connection, at now: UInt64 = now) -> Int {
        state.withLock { _ in connection.receivedBytes?.total(at: now) ?? 0 }
    }

    /// Counts bytes of responses that the operating system has taken to send them.
    func countSent(_ bytes: Int, _ connection: Connection, at now: UInt64 = now) {
        state.withLock { _ in connection.sentBytes?.add(bytes, at: now) }
    }

    /// Stores that the client read a part of the response at this time.
    func storeRead(_ connection: Connection, at now: UInt64 = now) {
        state.withLock { $0.storeRead(connection, at: now) }
    }

    // MARK: Accepting

    // Hummingbird calls these two methods without the connection. `ConnectionHandler` calls `open` and `close` with the
    // connection instead.
    func connectionOpened() {}

    func connectionClosed() {}

    /// Whether the server may accept another connection. The server may accept one connection more than the limit,
    /// because another connection is closed for it.
    func isAcceptingNewConnections() -> Bool { state.withLock { $0.count <= $0.limit } }

    /// Tries again to close connections. The caller repeats this with a timer, because no event occurs when a client
    /// stops reading. Returns whether there are still too many connections, so that the caller must call this method
    /// again.
    func retry(at now: UInt64 = now) -> Bool {
        let (victims, again) = state.withLock { state in
            let victims = state.makeRoom(at: now)
            state.isRetryScheduled = state.count > state.limit
            return (victims, state.isRetryScheduled)
        }
        end(victims)
        return again
    }

    /// Whether there are too many connections and the caller has to call `retry` in a second. Returns true to only one
    /// caller until `retry` finds that there are no longer too many connections.
    func shouldScheduleRetry() -> Bool {
        state.withLock { state in
            guard state.count > state.limit, !state.isRetryScheduled else { return false }
            state.isRetryScheduled = true
            return true
        }
    }

    /// Calls `retry` each second until there aren't too many connections.
    func scheduleRetries(on eventLoop: any EventLoop) {
        guard shouldScheduleRetry() else { return }
        eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { task in
            if !self.retry() { task.cancel() }
        }
    }

    /// Closes connections that `State` has chosen. The caller must not hold the lock, because closing a connection
    /// calls other code, which may call this type again.
    private func end(_ victims: [Connection]) {
        for victim in victims {
            onClose(victim.phase)
            victim.close()
        }
    }

    /// The networks of this address, each with a limit of connections; empty for loopback and proxies, because they
    /// pass on the requests of many clients.
    private func networks(of address: NetworkAddress?) -> [ClientNetwork] {
        guard let address, !address.isLoopback, !proxies.contains(where: { $0.contains(address) }) else { return [] }
        return ClientNetwork.all(of: address)
    }
}

/// All connections, and how room is made for new ones.
private struct State {
    typealias Connection = Connections.Connection

    let limit: Int
    let limitPerAddress: Int
    let bodyWindow: Int
    var count = 0
    /// The connections in each phase. First is the connection that has been in the phase for longest or, in the phase
    /// `response`, the connection with a client that has read nothing for longest.
    var queues: [ConnectionPhase: Queue] = [:]
    /// The connections from each network.
    var members: [ClientNetwork: [Connection]] = [:]
    var isRetryScheduled = false

    /// Adds a connection. Returns the connections that must be closed for it; the new connection may be among them.
    mutating func add(_ connection: Connection, at now: UInt64) -> [Connection] {
        count += 1
        queues[.idle, default: Queue()].append(connection)
        var victims: [Connection] = []
        for network in connection.networks where connection.isCounted {
            let earlierMembers = members[network, default: []]
            members[network, default: []].append(connection)
            guard earlierMembers.count >= network.share(of: limitPerAddress, total: limit) else { continue }
            let victim = victim(among: earlierMembers, at: now) ?? connection
            forget(victim)
            victims.append(victim)
        }
        return victims + makeRoom(at: now)
    }

    /// Moves a connection to another phase. Returns the connections that must be closed.
    mutating func enter(_ phase: ConnectionPhase, _ connection: Connection, at now: UInt64) -> [Connection] {
        guard connection.isCounted, connection.phase != phase else { return [] }
        queues[connection.phase]?.remove(connection)
        connection.phase = phase
        connection.since = now
        connection.hadRequest = true
        connection.receivedBytes = phase == .request ? RecentBytes(window: bodyWindow, at: now) : nil
        switch phase {
        case .idle, .request: connection.sentBytes = nil
        case .working: break
        case .response: connection.sentBytes = connection.sentBytes ?? RecentBytes(window: 10, at: now)
        }
        queues[phase, default: Queue()].append(connection)
        return makeRoom(at: now)
    }

    /// Moves a connection to the end of the queue, because its client has read something.
    mutating func storeRead(_ connection: Connection, at now: UInt64) {
        guard connection.isCounted, connection.phase == .response, now > connection.since else { return }
        queues[.response]?.remove(connection)
        connection.since = now
        queues[.response]?.append(connection)
    }

    /// Chooses connections to close until the limit is kept or none can be closed.
    mutating func makeRoom(at now: UInt64) -> [Connection] {
        var victims: [Connection] = []
        while count > limit, let victim = victim(at: now) {
            forget(victim)
            victims.append(victim)
        }
        return victims
    }

    /// Chooses the next connection to close, in the order that `Connections` describes; nil if none can be closed.
    private func victim(at now: UInt64) -> Connection? {
        if let idle = queues[.idle], let longestIdle = idle.first {
            // If most connections are new and idle, they are probably an attack, so close the oldest of them.
            if longestIdle.hadRequest || isOld(longestIdle, at: now) || idle.count > limit / 2 { return longestIdle }
        }
        if let slowest = slowest(of: first(.request), at: now) { return slowest }
        guard let responses = queues[.response], let longestUnread = responses.first else { return nil }
        if isStalled(longestUnread, at: now) { return longestUnread }
        return responses.count > limit - limit / 4 ? slowestReader(of: first(.response), at: now) : nil
    }

    /// The first `maximumCompared` connections in the queue of a phase.
    private func first(_ phase: ConnectionPhase) -> [Connection] {
        var connections: [Connection] = []
        var next = queues[phase]?.first
        while let connection = next, connections.count < Connections.maximumCompared {
            connections.append(connection)
            next = connection.next
        }
        return connections
    }

    /// Chooses one of a network's connections to close for a new connection of that network, in the order that
    /// `Connections` describes. An idle connection is closed even if it is new.
    private func victim(among connections: [Connection], at now: UInt64) -> Connection? {
        func longest(_ connections: [Connection]) -> Connection? { connections.min { $0.since < $1.since } }
        let byPhase = Dictionary(grouping: connections, by: \.phase)
        if let idle = byPhase[.idle].flatMap(longest) { return idle }
        if let slowest = slowest(of: byPhase[.request, default: []], at: now) { return slowest }
        let responses = byPhase[.response, default: []]
        if let longest = longest(responses), isStalled(longest, at: now) { return longest }
        guard responses.count > connections.count - connections.count / 4 else { return nil }
        return slowestReader(of: responses, at: now)
    }

    /// The connection that sends its request slowest. Requests that began less than a second ago are left out.
    private func slowest(of connections: [Connection], at now: UInt64) -> Connection? {
        connections.filter { isOld($0, at: now) }
            .map { (connection: $0, rate: $0.receivedBytes?.rate(at: now) ?? 0) }.min { $0.rate < $1.rate }?.connection
    }

    /// The connection that reads its response slowest, of the network with most connections.
    private func slowestReader(of connections: [Connection], at now: UInt64) -> Connection? {
        var slowest: (connection: Connection, members: Int, bytes: Int)?
        for connection in connections {
            guard let age = connection.sentBytes?.age(at: now), age > Connections.oldAge else { continue }
            let bytes = connection.sentBytes?.total(at: now) ?? 0
            // The number of connections of the client's largest network.
            let count = connection.networks.map { members[$0, default: []].count }.max() ?? 0
            if let slowest {
                guard count > slowest.members || (count == slowest.members && bytes < slowest.bytes) else { continue }
            }
            slowest = (connection, count, bytes)
        }
        return slowest?.connection
    }

    private func isOld(_ connection: Connection, at now: UInt64) -> Bool { now > connection.since + Connections.oldAge }

    private func isStalled(_ connection: Connection, at now: UInt64) -> Bool {
        now > connection.since + Connections.stallTime
    }

    /// Stops counting a connection. Does nothing if it isn't counted anymore.
    mutating func forget(_ connection: Connection) {
        guard connection.isCounted else { return }
        connection.isCounted = false
        count -= 1
        queues[connection.phase]?.remove(connection)
        for network in connection.networks {
            members[network]?.removeAll { $0 === connection }
            if members[network]?.isEmpty == true { members[network] = nil }
        }
    }
}

/// Connections in the order in which they were added: a doubly linked list. Each connection is in one queue at most,
/// because it stores its neighbors itself.
private struct Queue {
    private(set) var count = 0
    private(set) var first: Connections.Connection?
    private var last: Connections.Connection?

    mutating func append(_ connection: Connections.Connection) {
        count += 1
        connection.previous = last
        last?.next = connection
        last = connection
        if first == nil { first = connection }
    }

    mutating func remove(_ connection: Connections.Connection) {
        count -= 1
        if first === connection { first = connection.next }
        if last === connection { last = connection.previous }
        connection.previous?.next = connection.next
        connection.next?.previous = connection.previous
        connection.next = nil
        connection.previous = nil
    }
}
