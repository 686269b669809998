import CommandRunner
import Foundation
import Testing

@testable import TenureServer

/// Clients that send further requests before they get the response.
@Suite(.timeLimit(.minutes(5))) struct `pipelined requests` {
    private static let live = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private static func sync(_ body: String) -> String {
        """
        POST /v1/sync HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Content-Length: \(body.utf8.count)\r\n\r\n\(body)
        """
    }

    private func statuses(in text: String) -> [String] {
        text.split(separator: "HTTP/1.1 ").map { String($0.prefix(3)) }
    }

    @Test
    func `pipelined requests get responses in order, even after the client has closed its sending side`()
        async throws
    {
        try await withLiveService { _, port in
            let connection = try RawConnection(port: port)
            let nothing = "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
            connection.send(Self.live + Self.sync("{") + nothing + Self.sync("{}") + Self.live)
            connection.closeSending()
            let answers = try #require(await connection.received())
            #expect(statuses(in: answers) == ["200", "400", "404", "422", "200"])
        }
    }

    @Test func `a pipelined request with an incomplete body gets its response when the body is complete`() async throws
    {
        try await withLiveService { _, port in
            let connection = try RawConnection(port: port)
            let second = Self.sync("{}")
            connection.send(Self.live + second.dropLast(1))
            #expect(await connection.received(until: "{\"status\":\"ok\"}")?.hasPrefix("HTTP/1.1 200") == true)
            connection.send(second.suffix(1) + Self.live)
            let answers = try #require(await connection.received(until: "{\"status\":\"ok\"}"))
            #expect(statuses(in: answers) == ["422", "200"])
        }
    }

    @Test func `pipelined requests get responses before the error for a later request that isn't HTTP`() async throws {
        try await withLiveService { _, port in
            let connection = try RawConnection(port: port)
            connection.send(Self.live + Self.live + "no HTTP\r\n\r\n")
            let answers = try #require(await connection.received())
            #expect(statuses(in: answers) == ["200", "200", "400"])
        }
    }

    @Test func `5,000 pipelined requests at once end their connection, and the service continues`() async throws {
        try await withLiveService { _, port in
            let connection = try RawConnection(port: port)
            _ = await connection.sent(String(repeating: Self.live, count: 5_000))
            connection.closeSending()
            let answers = try #require(await connection.received())
            #expect(statuses(in: answers).count < 5_000)
            #expect(try await respondsOnNewConnection(port))
        }
    }

    private func respondsOnNewConnection(_ port: Int) async throws -> Bool {
        let connection = try RawConnection(port: port)
        connection.send(Self.live)
        return await connection.received(until: "{\"status\":\"ok\"}")?.contains("200 OK") == true
    }

    /// Counts requests and measures no time, so the test doesn't depend on the speed of the machine.
    @Test func `a client doesn't wait until fifty clients have the responses to all their pipelined requests`()
        async throws
    {
        try await withLiveService({ $0.metrics = .open }) { _, port in
            let pipelining = try (0..<50).map { _ in try RawConnection(port: port) }
            let other = try RawConnection(port: port)
            for connection in pipelining { connection.send(String(repeating: Self.live, count: 150)) }
            other.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let metrics = try #require(await other.received())
            // The metric is missing if no pipelined request has a response yet.
            let count = metrics.firstMatch(of: /tenure_requests_total\{[^}]*\/health\/live[^}]*\} (\d+)/)?.1 ?? "0"
            #expect(try #require(Int(count)) < 50 * 150 / 2)
            for connection in pipelining { connection.closeSending() }
            for connection in pipelining {
                let responses = try #require(await connection.received())
                #expect(statuses(in: responses) == Array(repeating: "200", count: 150))
            }
        }
    }

    @Test func `pipelined requests with unread responses take little memory`() async throws {
        let folder = try Folder()
        let policy = try folder.write(
            """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras: [{ name: paid, model: paid }]
            entitlements: { everything: { honors: [paid] } }
            """, to: "policy.yaml")
        let service = try RunningCommand([
            "serve", "--policy", policy, "--database", folder.url("tenure.sqlite").path, "--port", "0",
            "--log-level", "error",
        ])
        let port = try #require(try await service.port(), "\(service.errors)")
        let request = "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
        #expect(try await respondsOnNewConnection(port))
        let before = try #require(service.residentMemory)
        let deaf = try (0..<30).map { _ in try RawConnection(port: port, receiveBuffer: 4096) }
        for connection in deaf { connection.send(String(repeating: request, count: 400)) }
        // Waits until the service writes nothing more.
        var (memory, earlier) = (try #require(service.residentMemory), 0)
        while memory != earlier {
            earlier = memory
            try await Task.sleep(for: .seconds(2))
            memory = try #require(service.residentMemory)
        }
        // 400 responses on one connection have 20 MB. One response and 400 short requests have 1 MB at most.
        #expect(memory - before < 30 << 20, "\((memory - before) >> 20) MB more")
        withExtendedLifetime(deaf) {}
        #expect(await service.end(by: SIGTERM) == 0)
    }
}
