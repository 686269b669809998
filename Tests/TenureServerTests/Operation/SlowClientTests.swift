import CommandRunner
import Foundation
import Testing

@testable import TenureServer

@Suite struct `slow clients` {
    private static let head = "POST /v1/sync HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

    /// Returns the response to a quick client on a separate connection.
    private func get(_ path: String, port: Int) async throws -> String {
        let connection = try RawConnection(port: port)
        connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return try #require(await connection.received())
    }

    private func slowClients(at phase: String, port: Int) async throws -> Int? {
        let line = try await get("/metrics", port: port).split(whereSeparator: \.isNewline)
            .first { $0.hasPrefix("tenure_slow_clients_total{phase=\"\(phase)\"}") }
        return line?.split(separator: " ").last.flatMap { Int($0) }
    }

    @Test func `connections that never finish a request's head are closed, and other clients are served meanwhile`()
        async throws
    {
        try await withLiveService({ $0.timeouts.head = 1 }) { _, port in
            let slow = try (0..<100).map { _ in try RawConnection(port: port) }
            for connection in slow { connection.send("GET /health/live HTTP/1.1\r\nX-Slow: ") }
            #expect(try await get("/health/live", port: port).contains("200 OK"))
            for connection in slow { #expect(await connection.received() == "") }
            // The test's own client may count as slow too.
            #expect(try #require(try await slowClients(at: "head", port: port)) >= 100)
        }
    }

    @Test func `connections on which the client sends nothing are closed`() async throws {
        try await withLiveService({ $0.timeouts.head = 1 }) { _, port in
            let silent = try RawConnection(port: port)
            #expect(await silent.received() == "")
        }
    }

    @Test func `connections that never finish a request body are closed`() async throws {
        try await withLiveService({ $0.timeouts.body = 1 }) { _, port in
            let slow = try (0..<50).map { _ in try RawConnection(port: port) }
            for connection in slow { connection.send(Self.head + "Content-Length: 1000\r\n\r\n{\"receipt\": ") }
            #expect(try await get("/health/live", port: port).contains("200 OK"))
            // The service may send a response before it closes the connection, but never 200.
            for connection in slow { #expect(await connection.received()?.contains("200 OK") == false) }
            #expect(try await slowClients(at: "body", port: port) == 50)
        }
    }

    @Test func `connections that stay idle after a request are closed`() async throws {
        try await withLiveService({ $0.timeouts.idle = 1 }) { _, port in
            let connection = try RawConnection(port: port)
            connection.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(await connection.received()?.contains("200 OK") == true)
        }
    }

    @Test func `the service closes connections of clients that never read their responses`() async throws {
        try await withLiveService({ $0.timeouts.response = 1 }) { _, port in
            let deaf = try RawConnection(port: port, receiveBuffer: 4096)
            let request = "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
            // These responses exceed all buffers between the service and the client. The service may close the
            // connection before all requests are sent.
            for _ in 0..<40 { _ = await deaf.sent(String(repeating: request, count: 25)) }
            while try await slowClients(at: "response", port: port) == 0 { await Task.yield() }
        }
    }

    @Test func `a client with a body that is too large gets an error at once, and its connection is closed`()
        async throws
    {
        try await withLiveService { _, port in
            let declared = try RawConnection(port: port)
            declared.send(Self.head + "Content-Length: 1073741824\r\n\r\n{")
            let answer = try #require(await declared.received(until: "\"tooLarge\""))
            #expect(answer.hasPrefix("HTTP/1.1 413 "))
            #expect(answer.lowercased().contains("connection: close\r\n"))
            #expect(await declared.received() != nil)

            let chunked = try RawConnection(port: port)
            chunked.send(Self.head + "Transfer-Encoding: chunked\r\n\r\n")
            let chunk = "10000\r\n" + String(repeating: "A", count: 65_536) + "\r\n"
            // The service accepts 4 MB, and must close the connection before the client has sent 64 MB.
            var sent = 0
            while sent < 1024, await chunked.sent(chunk) { sent += 1 }
            #expect(await chunked.received() != nil)
            #expect(sent < 1024)
            #expect(try await get("/health/live", port: port).contains("200 OK"))
        }
    }

    @Test func `a connection that becomes very slow after a quick start is closed, but a steady connection isn't`()
        async throws
    {
        try await withLiveService({ $0.timeouts.body = 3 }) { _, port in
            let head = Self.head + "Content-Length: 2000000\r\n\r\n{\"receipt\": \""
            let (steady, trickle) = (try RawConnection(port: port), try RawConnection(port: port))
            steady.send(head)
            trickle.send(head + String(repeating: "A", count: 100_000))
            async let steadyAnswer = steady.received(until: "HTTP/1.1 422 ")
            async let trickleAnswer = trickle.received()
            // The eight seconds are longer than the interval over which the rate is measured.
            async let trickled: Void = trickle.send("A", times: 80, pause: 0.1)
            await steady.send(String(repeating: "A", count: 20_000), times: 80, pause: 0.1)
            await trickled
            #expect(await trickleAnswer == "")
            steady.send(String(repeating: "A", count: 2_000_000 - 13 - 80 * 20_000 - 2) + "\"}")
            #expect(await steadyAnswer?.contains("HTTP/1.1 422 ") == true)
            #expect(try await slowClients(at: "body", port: port) == 1)
        }
    }

    @Test func `clients that read slowly get their complete responses`() async throws {
        try await withLiveService({ $0.timeouts.response = 4 }) { _, port in
            let slow = try RawConnection(port: port, receiveBuffer: 4096)
            let (count, request) = (100, "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let last = request.replacing("\r\n\r\n", with: "\r\nConnection: close\r\n\r\n")
            // Reading the parts takes longer than the timeout for a client that reads nothing.
            let received = await slow.send(
                String(repeating: request, count: count - 1) + last, readingParts: 80, of: 4096, pause: 0.1)
            #expect(try #require(received).split(separator: "HTTP/1.1 200 OK").count == count)
            #expect(try await slowClients(at: "response", port: port) == 0)
        }
    }

    @Test func `an idle connection stays open longer than the timeout for a request's head`() async throws {
        try await withLiveService({ $0.timeouts.head = 1 }) { _, port in
            let connection = try RawConnection(port: port)
            for _ in 0..<3 {
                connection.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(await connection.received(until: "{\"status\":\"ok\"}")?.contains("200 OK") == true)
            }
            // The test waits longer than the timeout for the first request.
            let silent = try RawConnection(port: port)
            #expect(await silent.received() == "")
            connection.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(await connection.received(until: "{\"status\":\"ok\"}")?.contains("200 OK") == true)
        }
    }
}
