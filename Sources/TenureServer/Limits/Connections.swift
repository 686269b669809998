import Dispatch
import Foundation
import HummingbirdCore
import NIOCore

/// The open connections of the service. When there are too many, in all or from one address, one of them is closed, and the
/// new one gets in.
///
/// The connection that has been idle for longest is closed; if none is idle, the one that sends its request slowest; then
/// one whose client has read nothing of the response for ten seconds. Responses hold three quarters of the connections at
/// most: beyond that, the one that is read slowest is closed, of the network with most connections first. A request that
/// waits for its response is never cut off, and a new connection has a second for its request. Only if none can be closed
/// do new connections wait.
final class Connections: AvailableConnectionsDelegate, @unchecked Sendable {
    // Sound: all mutable state, that of connections too, is used between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    private let limit: Int
    private let limitPerAddress: Int
    private let proxies: [AddressBlock]
    private let bodyWindow: Int
    private let closed: @Sendable (Phase) -> Void

    private var count = 0
    private var queues: [Phase: Queue] = [:]
    private var members: [ClientNetwork: [Connection]] = [:]
    private var isRoomAwaited = false

    /// What a connection is doing.
    enum Phase: String, Sendable, CaseIterable {
        /// No request has begun to arrive, or its head isn't complete.
        case idle
        case request
        /// The request is complete, and nothing of the response is written.
        case working
        case response
    }

    /// One open connection.
    final class Connection: @unchecked Sendable {
        fileprivate let networks: [ClientNetwork]
        fileprivate let close: @Sendable () -> Void
        fileprivate var phase = Phase.idle
        /// When the phase began, or when the client last read a part of the response. Nanoseconds.
        fileprivate var since: UInt64
        fileprivate var recent: RecentBytes?
        /// What the client took of the responses. Pipelined responses are one, so that short ones aren't always new.
        fileprivate var taken: RecentBytes?
        fileprivate var hadRequest = false
        fileprivate var isCounted = true
        fileprivate var next: Connection?
        fileprivate weak var previous: Connection?

        fileprivate init(networks: [ClientNetwork], at now: UInt64, close: @escaping @Sendable () -> Void) {
            self.networks = networks
            self.close = close
            since = now
        }
    }

    /// Below that age nothing is called slow or idle. Nanoseconds.
    private static let youth: UInt64 = 1_000_000_000
    private static let stall: UInt64 = 10_000_000_000
    /// How many of the requests that have been arriving for longest are compared, and how many of the responses that made
    /// no progress for longest.
    private static let compared = 64

    /// - Parameters:
    ///   - limitPerAddress: never more than a quarter of `limit`. A /48 of IPv6 may have four times as many, and half of
    ///     `limit`.
    ///   - bodyWindow: seconds over which the rate of a body is measured.
    ///   - closed: called with the phase of each connection that is closed to make room.
    init(
        limit: Int, limitPerAddress: Int, proxies: [AddressBlock] = [], bodyWindow: Int = 10,
        closed: @escaping @Sendable (Phase) -> Void = { _ in }
    ) {
        self.limit = limit
        self.limitPerAddress = max(1, min(limitPerAddress, limit / 4))
        self.proxies = proxies
        self.bodyWindow = bodyWindow
        self.closed = closed
    }

    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    // MARK: The life of a connection

    /// A new connection. `close` ends it; it is called at most once, on any thread, and perhaps before this returns.
    func open(
        from address: NetworkAddress?, at now: UInt64 = now, close: @escaping @Sendable () -> Void
    ) -> Connection {
        let connection = Connection(networks: networks(of: address), at: now, close: close)
        let victims = locked {
            count += 1
            queues[.idle, default: Queue()].append(connection)
            var victims: [Connection] = []
            for network in connection.networks where connection.isCounted {
                let others = members[network, default: []]
                members[network, default: []].append(connection)
                guard others.count >= network.share(of: limitPerAddress, total: limit) else { continue }
                let victim = victim(among: others, at: now) ?? connection
                forget(victim)
                victims.append(victim)
            }
            return victims + makeRoom(at: now)
        }
        end(victims)
        return connection
    }

    /// The connection is closed.
    func close(_ connection: Connection) {
        locked { forget(connection) }
    }

    func enter(_ phase: Phase, _ connection: Connection, at now: UInt64 = now) {
        let victims: [Connection] = locked {
            guard connection.isCounted, connection.phase != phase else { return [] }
            queues[connection.phase]?.remove(connection)
            connection.phase = phase
            connection.since = now
            connection.hadRequest = true
            connection.recent = phase == .request ? RecentBytes(window: bodyWindow, at: now) : nil
            switch phase {
            case .idle, .request: connection.taken = nil
            case .working: break
            case .response: connection.taken = connection.taken ?? RecentBytes(window: 10, at: now)
            }
            queues[phase, default: Queue()].append(connection)
            return makeRoom(at: now)
        }
        end(victims)
    }

    func receive(_ bytes: Int, _ connection: Connection, at now: UInt64 = now) {
        locked { connection.recent?.add(bytes, at: now) }
    }

    /// Bytes of the request's body that arrived within the window.
    func received(_ connection: Connection, at now: UInt64 = now) -> Int {
        locked { connection.recent?.total(at: now) ?? 0 }
    }

    /// The client has taken bytes of a response.
    func take(_ bytes: Int, _ connection: Connection, at now: UInt64 = now) {
        locked { connection.taken?.add(bytes, at: now) }
    }

    /// The client has read a part of the response.
    func progress(_ connection: Connection, at now: UInt64 = now) {
        locked {
            guard connection.isCounted, connection.phase == .response, now > connection.since else { return }
            queues[.response]?.remove(connection)
            connection.since = now
            queues[.response]?.append(connection)
        }
    }

    // MARK: Accepting

    func connectionOpened() {}

    func connectionClosed() {}

    /// One more than the limit comes in, and another one is closed for it.
    func isAcceptingNewConnections() -> Bool { locked { count <= limit } }

    /// Tries again to close a connection, because a client that stalls causes no event. Returns whether to try again later.
    func retry(at now: UInt64 = now) -> Bool {
        let (victims, again) = locked {
            let victims = makeRoom(at: now)
            isRoomAwaited = count > limit
            return (victims, isRoomAwaited)
        }
        end(victims)
        return again
    }

    /// Whether the caller has to call `retry` in a second. True for one caller, until `retry` was called.
    func awaitsRoom() -> Bool {
        locked {
            guard count > limit, !isRoomAwaited else { return false }
            isRoomAwaited = true
            return true
        }
    }

    // MARK: Making room

    private func makeRoom(at now: UInt64) -> [Connection] {
        var victims: [Connection] = []
        while count > limit, let victim = victim(at: now) {
            forget(victim)
            victims.append(victim)
        }
        return victims
    }

    private func victim(at now: UInt64) -> Connection? {
        if let idle = queues[.idle], let longest = idle.first {
            // If most connections are new, they are the attack.
            if longest.hadRequest || isOld(longest, at: now) || idle.count > limit / 2 { return longest }
        }
        if let slowest = slowest(of: first(.request), at: now) { return slowest }
        guard let responses = queues[.response], let longest = responses.first else { return nil }
        if isStalled(longest, at: now) { return longest }
        return responses.count > limit - limit / 4 ? slowestReader(of: first(.response), at: now) : nil
    }

    private func first(_ phase: Phase) -> [Connection] {
        var connections: [Connection] = []
        var next = queues[phase]?.first
        while let connection = next, connections.count < Self.compared {
            connections.append(connection)
            next = connection.next
        }
        return connections
    }

    /// The same for the connections of one network.
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

    private func slowest(of connections: [Connection], at now: UInt64) -> Connection? {
        connections.filter { isOld($0, at: now) }
            .map { ($0, $0.recent?.rate(at: now) ?? 0) }.min { $0.1 < $1.1 }?.0
    }

    /// Of the network with most connections.
    private func slowestReader(of connections: [Connection], at now: UInt64) -> Connection? {
        var slowest: (connection: Connection, members: Int, bytes: Int)?
        for connection in connections {
            guard let age = connection.taken?.age(at: now), age > Self.youth else { continue }
            let bytes = connection.taken?.total(at: now) ?? 0
            var others = 0
            for network in connection.networks { others = max(others, members[network, default: []].count) }
            if let known = slowest {
                guard others > known.members || (others == known.members && bytes < known.bytes) else { continue }
            }
            slowest = (connection, others, bytes)
        }
        return slowest?.connection
    }

    private func isOld(_ connection: Connection, at now: UInt64) -> Bool { now > connection.since + Self.youth }

    private func isStalled(_ connection: Connection, at now: UInt64) -> Bool { now > connection.since + Self.stall }

    private func forget(_ connection: Connection) {
        guard connection.isCounted else { return }
        connection.isCounted = false
        count -= 1
        queues[connection.phase]?.remove(connection)
        for network in connection.networks {
            members[network]?.removeAll { $0 === connection }
            if members[network]?.isEmpty == true { members[network] = nil }
        }
    }

    private func end(_ victims: [Connection]) {
        for victim in victims {
            closed(victim.phase)
            victim.close()
        }
    }

    /// None for loopback and proxies, behind which are many clients.
    private func networks(of address: NetworkAddress?) -> [ClientNetwork] {
        guard let address, !address.isLoopback, !proxies.contains(where: { $0.contains(address) }) else { return [] }
        return ClientNetwork.all(of: address)
    }

    private func locked<Result>(_ work: () -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return work()
    }
}

/// Connections in the order in which they were added, each in one queue at most.
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
