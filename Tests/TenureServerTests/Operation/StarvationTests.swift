import CommandRunner
import Foundation
import HTTPTypes
import TenureAPI
import TenureMint
import Testing

@testable import TenureServer

/// Hostile clients use up connections or memory. Ordinary syncs, notifications and health checks must still get
/// through.
@Suite(.timeLimit(.minutes(5))) struct `clients can't starve the service` {
    private static func head(_ length: Int, for address: String? = nil, path: String = "/v1/sync") -> String {
        """
        POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: \(length)\r\n\
        \(address.map { "X-Forwarded-For: \($0)\r\n" } ?? "")\r\n
        """
    }

    /// Sends a request on a new connection. Returns the status of the response.
    private func status(
        _ path: String, _ body: String? = nil, for address: String? = nil, port: Int
    ) async throws -> String {
        let connection = try RawConnection(port: port)
        if let body {
            connection.send(Self.head(body.utf8.count, for: address, path: path) + body)
        } else {
            let field = address.map { "X-Forwarded-For: \($0)\r\n" } ?? ""
            connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(field)\r\n")
        }
        let answer = try #require(await connection.received(until: "\r\n\r\n"))
        return String(answer.dropFirst("HTTP/1.1 ".count).prefix(3))
    }

    /// Returns the body of a new customer's sync.
    private func sync(_ padding: Int = 0) throws -> String {
        let request = SyncRequest(
            appTransaction: try Calculator.minter().newcomer(), transactions: [],
            deviceVerificationID: Calculator.device.uuidString)
        return String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
            + String(repeating: " ", count: padding)
    }

    private func expectService(for address: String? = nil, port: Int) async throws {
        #expect(try await status("/health/ready", for: address, port: port) == "200")
        #expect(try await status("/v1/sync", try sync(), for: address, port: port) == "200")
        // The notification is read and rejected as invalid, so it wasn't refused for lack of room.
        #expect(try await status("/v1/notifications/apple", "{}", for: address, port: port).hasPrefix("4"))
    }

    @Test func `idle connections don't starve other clients`() async throws {
        try await withLiveService({ $0.limits.connections = 50 }) { _, port in
            var idle: [RawConnection] = []
            for _ in 0..<60 {
                let connection = try RawConnection(port: port)
                connection.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(await connection.received(until: "{\"status\":\"ok\"}")?.contains("200 OK") == true)
                idle.append(connection)
            }
            try await expectService(port: port)
            #expect(await idle[0].received() == "", "the connection that was idle for longest is closed")
            let last = try #require(idle.last)
            last.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(await last.received(until: "{\"status\":\"ok\"}")?.contains("200 OK") == true)
        }
    }

    @Test func `connections that never complete a head or a body don't starve other clients`() async throws {
        try await withLiveService({ $0.limits.connections = 50 }) { _, port in
            let silent = try (0..<60).map { _ in try RawConnection(port: port) }
            for connection in silent { connection.send("POST /v1/sync HTTP/1.1\r\nX-Slow: ") }
            try await expectService(port: port)
            let slow = try (0..<60).map { _ in try RawConnection(port: port) }
            for connection in slow { connection.send(Self.head(1000) + "{") }
            // A body can count as slow after a second.
            try await Task.sleep(for: .seconds(1.5))
            try await expectService(port: port)
        }
    }

    /// Runs the built command in a separate process. Hummingbird's test framework drops the delegate that limits
    /// connections, so a service in the process of the test has no such limit.
    private func withCommand(connections: Int, _ body: (Int) async throws -> Void) async throws {
        let folder = try Folder()
        let policy = try folder.write(
            """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras: [{ name: paid, model: paid }]
            entitlements: { everything: { honors: [paid] } }
            """, to: "policy.yaml")
        try Calculator.authority.save(to: folder.url("authority"))
        let service = try RunningCommand([
            "serve", "--policy", policy, "--database", folder.url("tenure.sqlite").path, "--port", "0",
            "--log-level", "error", "--trust", folder.url("authority").path, "--limits-connections", "\(connections)",
        ])
        let port = try #require(try await service.port(), "\(service.errors)")
        try await body(port)
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `responses that are never read don't starve other clients`() async throws {
        try await withCommand(connections: 8) { port in
            let request = "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let deaf = try (0..<12).map { _ in try RawConnection(port: port, receiveBuffer: 4096) }
            // These responses exceed all buffers between the service and the client.
            for connection in deaf { connection.send(String(repeating: request, count: 150)) }
            try await expectService(port: port)
        }
    }

    @Test func `responses that are read slowly don't starve other clients`() async throws {
        try await withCommand(connections: 8) { port in
            let request = "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
            var slow: [RawConnection] = []
            for _ in 0..<10 {
                let connection = try RawConnection(port: port, receiveBuffer: 4096)
                connection.send(String(repeating: request, count: 400))
                slow.append(connection)
                // Waits until the buffers between the service and the client are full.
                try await Task.sleep(for: .milliseconds(200))
            }
            let reading = Task { [slow] in
                while !Task.isCancelled {
                    for connection in slow { _ = connection.readAvailable(16_384) }
                    try await Task.sleep(for: .milliseconds(500))
                }
            }
            defer { reading.cancel() }
            // A response can count as slow after a second.
            try await Task.sleep(for: .seconds(1.5))
            for _ in 0..<3 { try await expectService(port: port) }
        }
    }

    @Test func `slow bodies of many addresses behind a proxy don't starve other clients`() async throws {
        let bodies = BodyBudget(bytes: 4 << 20)
        try await withLiveService({
            $0.bodies = bodies
            $0.proxies = [try #require(AddressBlock("127.0.0.1"))]
            $0.adminKey = AdminClient.adminKey
            $0.allowsTestAnchorsBeyondLoopback = true
        }) { _, port in
            let slow = try (0..<32).map { index in
                let connection = try RawConnection(port: port)
                connection.send(
                    Self.head(1_000_000, for: "203.0.113.\(index % 8)") + "{" + String(repeating: " ", count: 90_000))
                return connection
            }
            try await expectService(for: "198.51.100.1", port: port)
            // A large body needs the memory of the slow ones, which count as slow after two seconds.
            while try await status("/v1/sync", try sync(900_000), for: "198.51.100.1", port: port) != "200" {
                try await Task.sleep(for: .milliseconds(100))
            }
            withExtendedLifetime(slow) {}
        }
    }

    /// Tests the limit of one address, and the quarter of all connections that one address may have.
    @Test(arguments: [(2, 16_384), (256, 8)])
    func `many requests of one client behind a proxy don't starve other clients`(perAddress: Int, connections: Int)
        async throws
    {
        try await withLiveService({
            $0.limits.connectionsPerAddress = perAddress
            $0.limits.connections = connections
            $0.proxies = [try #require(AddressBlock("127.0.0.1"))]
            $0.adminKey = AdminClient.adminKey
            $0.allowsTestAnchorsBeyondLoopback = true
        }) { _, port in
            let slow = try (1...2).map { host in
                let connection = try RawConnection(port: port)
                connection.send(Self.head(1000, for: "2001:db8::\(host)") + "{")
                return connection
            }
            // The metrics include requests in progress; the third request is the request for the metrics.
            while try await metric("tenure_requests_in_flight", port: port) != "3" { await Task.yield() }
            #expect(try await status("/v1/sync", "{}", for: "2001:db8::3", port: port) == "429")
            #expect(try await status("/v1/notifications/apple", "{}", for: "2001:db8::3", port: port) == "503")
            #expect(try await status("/health/live", for: "2001:db8::3", port: port) == "200")
            try await expectService(for: "2001:db8:0:1::1", port: port)
            slow[0].send(String(repeating: " ", count: 998) + "}")
            #expect(await slow[0].received(until: "\r\n\r\n") != nil)
            while try await metric("tenure_requests_in_flight", port: port) != "2" { await Task.yield() }
            #expect(try await status("/v1/sync", "{}", for: "2001:db8::3", port: port).hasPrefix("4"))
            withExtendedLifetime(slow) {}
        }
    }

    private func metric(_ name: String, port: Int) async throws -> String? {
        let connection = try RawConnection(port: port)
        connection.send(
            """
            GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(AdminClient.adminKey)\r\n\
            X-Forwarded-For: 192.0.2.9\r\nConnection: close\r\n\r\n
            """)
        let answer = try #require(await connection.received())
        return answer.split(separator: "\r\n").flatMap { $0.split(separator: "\n") }
            .first { $0.hasPrefix(name + " ") }?.split(separator: " ").last.map(String.init)
    }
}
