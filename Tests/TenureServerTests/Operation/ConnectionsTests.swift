import Synchronization
import TenureCore
import Testing

@testable import TenureServer

@Suite struct `limits of open connections` {
    private static let second: UInt64 = 1_000_000_000

    /// Opens connections, and stores the names of the connections that were closed.
    private final class Server: Sendable {
        let connections: Connections
        private let names = Mutex<[String]>([])

        init(limit: Int, perAddress: Int = 1000, proxies: [String] = []) {
            connections = Connections(
                limit: limit, limitPerAddress: perAddress, proxies: proxies.compactMap { AddressBlock($0) })
        }

        var closed: [String] { names.withLock { $0 } }

        @discardableResult
        func open(
            _ name: String, from address: String = "127.0.0.1", at now: UInt64, in phase: ConnectionPhase = .idle
        ) -> Connections.Connection {
            let connection = connections.open(from: NetworkAddress(address), at: now) { [self] in
                names.withLock { $0.append(name) }
            }
            connections.enter(phase, connection, at: now)
            return connection
        }
    }

    @Test func `at the limit of connections, the connection that is idle for longest is closed`() {
        let server = Server(limit: 3)
        let first = server.open("first", at: 0)
        for name in ["second", "third"] { server.open(name, at: 1) }
        // The first connection was used after the other connections.
        server.connections.enter(.request, first, at: 2)
        server.connections.enter(.idle, first, at: 3)
        server.open("fourth", at: 4)
        #expect(server.closed == ["second"])
        server.open("fifth", at: 5)
        server.open("sixth", at: 6)
        #expect(server.closed == ["second", "third", "first"])
        #expect(server.connections.isAcceptingNewConnections())
    }

    @Test func `at the limit of connections, if none is idle, the slowest request is closed, unless it is new`() {
        let server = Server(limit: 3)
        for (name, bytes) in [("quick", 9000), ("slow", 10), ("middle", 500)] {
            let connection = server.open(name, at: 0, in: .request)
            server.connections.countReceived(bytes, connection, at: 0)
        }
        server.open("young", at: 10 * Self.second, in: .request)
        #expect(server.closed == ["slow"])
        server.open("younger", at: 10 * Self.second, in: .request)
        #expect(server.closed == ["slow", "middle"])
    }

    @Test func `at the limit of connections, a response that the client doesn't read is closed`() {
        let server = Server(limit: 3)
        server.open("working", at: 0, in: .working)
        let taken = server.open("taken", at: 0, in: .response)
        server.open("stalled", at: 1, in: .response)
        server.connections.storeRead(taken, at: 15 * Self.second)
        let now = 20 * Self.second
        server.open("a", at: now, in: .working)
        #expect(server.closed == ["stalled"])
        server.open("b", at: now)
        #expect(server.closed == ["stalled"])
    }

    @Test
    func `if responses use more than three quarters of the connections, the slowest response is closed`() {
        let server = Server(limit: 4)
        for (name, bytes) in [("quick", 9000), ("slow", 10), ("middle", 500), ("quickest", 10_000)] {
            let connection = server.open(name, at: 0, in: .response)
            server.connections.countSent(bytes, connection, at: Self.second)
            server.connections.storeRead(connection, at: 3 * Self.second)
        }
        server.open("a", at: 3 * Self.second, in: .working)
        #expect(server.closed == ["slow"])
        // Three responses are no more than three quarters of the connections.
        server.open("b", at: 3 * Self.second, in: .working)
        #expect(server.closed == ["slow"])
        #expect(!server.connections.isAcceptingNewConnections())
    }

    @Test
    func `at the limit of connections, a response that has just begun isn't cut off, unless its request was pipelined`()
    {
        let server = Server(limit: 3)
        let pipelined = server.open("pipelined", at: 0, in: .response)
        server.connections.enter(.working, pipelined, at: 9 * Self.second)
        server.connections.enter(.response, pipelined, at: 10 * Self.second)
        let reused = server.open("reused", at: 0, in: .response)
        server.connections.enter(.idle, reused, at: 9 * Self.second)
        server.connections.enter(.response, reused, at: 10 * Self.second)
        server.open("new", at: 10 * Self.second, in: .response)
        server.open("a", at: 10 * Self.second, in: .response)
        #expect(server.closed == ["pipelined"])
        server.open("b", at: 10 * Self.second, in: .response)
        #expect(server.closed == ["pipelined"])
    }

    @Test func `at the limit of connections, a response to the network with the most connections is closed first`() {
        let server = Server(limit: 16)
        for (index, address) in (["192.0.2.1"] + Array(repeating: "192.0.2.2", count: 3)).enumerated() {
            let connection = server.open("\(address) \(index)", from: address, at: 0, in: .response)
            server.connections.countSent(100 * index, connection, at: Self.second)
        }
        for _ in 4..<16 { server.open("local", at: 0, in: .response) }
        server.open("new", at: 3 * Self.second, in: .working)
        #expect(server.closed == ["192.0.2.2 1"])
    }

    @Test func `an address at its connection limit gets a new connection in place of its slowest response`() {
        let server = Server(limit: 100, perAddress: 4)
        for index in 1...4 {
            let connection = server.open("\(index)", from: "192.0.2.1", at: 0, in: .response)
            server.connections.countSent(1000 / index, connection, at: Self.second)
        }
        server.open("new", from: "192.0.2.1", at: 3 * Self.second, in: .working)
        #expect(server.closed == ["4"])
        server.open("newer", from: "192.0.2.1", at: 3 * Self.second, in: .working)
        #expect(server.closed == ["4", "newer"])
    }

    @Test func `connections of one address are at most a quarter of all connections`() {
        let server = Server(limit: 20)
        for index in 1...6 { server.open("\(index)", from: "192.0.2.1", at: UInt64(index)) }
        #expect(server.closed == ["1"])
    }

    @Test func `new connections wait while no open connection can be closed`() {
        let server = Server(limit: 2)
        let first = server.open("first", at: 0, in: .working)
        server.open("second", at: 0, in: .working)
        #expect(server.connections.isAcceptingNewConnections() && !server.connections.shouldScheduleRetry())
        server.open("new", at: Self.second, in: .working)
        #expect(!server.connections.isAcceptingNewConnections())
        #expect(
            server.connections.shouldScheduleRetry() && !server.connections.shouldScheduleRetry(),
            "only one retry is scheduled")
        #expect(server.connections.retry(at: 2 * Self.second))
        server.connections.enter(.idle, first, at: 3 * Self.second)
        #expect(server.closed == ["first"])
        #expect(server.connections.isAcceptingNewConnections())
        #expect(!server.connections.retry(at: 4 * Self.second))
    }

    @Test func `a new connection isn't closed in its first second, so that it can send its request`() {
        let server = Server(limit: 4)
        for name in ["a", "b", "c", "d"] { server.open(name, at: 0, in: .request) }
        server.open("new", at: 10 * Self.second)
        server.open("newer", at: 10 * Self.second + 1)
        #expect(server.closed == ["a", "b"])
        server.open("newest", at: 12 * Self.second)
        #expect(server.closed == ["a", "b", "new"])
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.2", 2), ("2001:db8:0:1::1", "2001:db8:0:2::1", 2), ("192.0.2.1", "198.51.100.1", 2),
    ])
    func `an address at its connection limit doesn't limit the connections of other addresses`(
        address: String, other: String, limit: Int
    ) {
        let server = Server(limit: 100, perAddress: limit)
        server.open("other", from: other, at: 0)
        for (instant, name) in ["a", "b", "c", "d"].enumerated() {
            server.open(name, from: address, at: UInt64(instant + 1))
        }
        #expect(server.closed == ["a", "b"])
    }

    @Test func `an address at its connection limit gets no new connection while all its connections are busy`() {
        let server = Server(limit: 100, perAddress: 2)
        let busy = ["a", "b"].map { server.open($0, from: "192.0.2.1", at: 0, in: .working) }
        server.open("c", from: "192.0.2.1", at: 1)
        #expect(server.closed == ["c"])
        server.connections.close(busy[0])
        server.open("d", from: "192.0.2.1", at: 2)
        #expect(server.closed == ["c"])
    }

    @Test func `a /64 network has the connection limit of one address, and a /48 network has four times as many`() {
        let server = Server(limit: 100, perAddress: 2)
        for host in 1...3 { server.open("\(host)", from: "2001:db8::\(host)", at: UInt64(host)) }
        #expect(server.closed == ["1"])
        for network in 1...20 { server.open("network", from: "2001:db8:0:\(network)::1", at: UInt64(10 + network)) }
        #expect(server.closed.count == 1 + 20 - 6)
    }

    @Test func `a /48 network gets at most half of all connections`() {
        let server = Server(limit: 20, perAddress: 256)
        for network in 1...20 { server.open("network", from: "2001:db8:0:\(network)::1", at: UInt64(network)) }
        #expect(server.closed.count == 10)
        let requests = RequestsInProgress(limit: 256, total: 20)
        let admitted = (1...20).filter { network in
            NetworkAddress("2001:db8:0:\(network)::1").map { requests.begin(for: $0) } == true
        }
        #expect(admitted.count == 10)
    }

    @Test func `requests of a client behind a proxy use at most a quarter of all connections`() throws {
        let requests = RequestsInProgress(limit: 256, total: 40)
        let client = try #require(NetworkAddress("192.0.2.1"))
        #expect((1...20).filter { _ in requests.begin(for: client) }.count == 10)
        requests.end(for: client)
        #expect(requests.begin(for: client))
    }

    @Test func `requests of one /64 network behind a proxy count together, and end one by one`() throws {
        let requests = RequestsInProgress(limit: 2, total: 400)
        func begin(_ address: String) throws -> Bool { requests.begin(for: try #require(NetworkAddress(address))) }
        #expect(try begin("2001:db8:0:1::1"))
        #expect(try begin("2001:db8:0:1::2"))
        #expect(try !begin("2001:db8:0:1::3"))
        #expect(try begin("2001:db8:0:2::1"))
        requests.end(for: try #require(NetworkAddress("2001:db8:0:1::1")))
        #expect(try begin("2001:db8:0:1::3"))
        #expect(try !begin("2001:db8:0:1::4"))
    }

    @Test func `completed requests through a proxy don't use up the limit of their network`() throws {
        let requests = RequestsInProgress(limit: 2, total: 400)
        // All of these addresses are in one /48, which may have eight requests at once.
        for number in 0..<100 {
            let client = try #require(NetworkAddress("2001:db8:1:\(number)::1"))
            #expect(requests.begin(for: client), "\(number)")
            requests.end(for: client)
        }
    }

    @Test func `connections from loopback and from proxies have no limit per address`() {
        let server = Server(limit: 100, perAddress: 2, proxies: ["192.0.2.0/24"])
        for address in ["127.0.0.1", "::1", "192.0.2.7"] {
            for _ in 0..<5 { server.open(address, from: address, at: 0) }
        }
        #expect(server.closed.isEmpty)
    }

    @Test func `each connection that makes room is reported with its phase`() {
        let phases = Locked<[ConnectionPhase]>([])
        let connections = Connections(limit: 4, limitPerAddress: 1000) { phase in
            phases.withLock { $0.append(phase) }
        }
        func open(at now: UInt64, in phase: ConnectionPhase) {
            connections.enter(phase, connections.open(from: nil, at: now) {}, at: now)
        }
        for phase in [ConnectionPhase.request, .response, .working, .idle] { open(at: 0, in: phase) }
        for _ in 0..<3 { open(at: 20 * Self.second, in: .working) }
        #expect(phases.withLock { $0 } == [.idle, .request, .response])
    }

    @Test func `a connection that is closed twice frees one place`() {
        let server = Server(limit: 2)
        let first = server.open("first", at: 0, in: .working)
        server.open("second", at: 0, in: .working)
        for _ in 0..<2 { server.connections.close(first) }
        server.open("third", at: 1, in: .working)
        #expect(server.connections.isAcceptingNewConnections())
        server.open("fourth", at: 1, in: .working)
        #expect(!server.connections.isAcceptingNewConnections())
        #expect(server.closed.isEmpty)
    }
}
