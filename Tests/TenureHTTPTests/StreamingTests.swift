import Foundation
import TenureCore
import TenureHTTP
import Testing

@Suite(.timeLimit(.minutes(5))) struct StreamingTests {
    private static let text = String(repeating: "0123456789abcdef", count: 8_000)
    private let transport = URLSessionTransport.shared

    private func serving(
        _ reply: TestServer.Reply, limit: Int = 1 << 20, timeout: Double = 60,
        _ body: (TestServer, TransportRequest) async throws -> Void
    ) async throws {
        let server = try TestServer { _ in reply }
        defer { server.stop() }
        try await body(server, TransportRequest(server.url, timeout: timeout, bodyLimit: limit))
    }

    @Test func `a streamed response gives its head first, and then the pieces of the body in order`() async throws {
        try await serving(.status("206 Partial Content", headers: ["X-Answer: yes"], body: Self.text)) { _, request in
            let heads = Locked<[Int]>([])
            var received = Data()
            let response = try await transport.receive(request) { head in
                heads.withLock { $0.append(head.status) }
                return true
            } body: { piece in
                #expect(heads.withLock { $0 } == [206])
                received += piece
            }
            #expect(response.status == 206)
            #expect(response.header("x-answer") == "yes")
            #expect(response.body.isEmpty)
            #expect(received == Data(Self.text.utf8))
        }
    }

    @Test func `if the caller declines a response after its head, no body is delivered and the connection closes`()
        async throws
    {
        var reply = TestServer.Reply.status("200 OK", body: Self.text)
        reply.closes = false
        try await serving(reply) { server, request in
            let response = try await transport.receive(request) {
                $0.status == 206
            } body: { _ in
                Issue.record("a body was delivered")
            }
            #expect(response.status == 200)
            for _ in 0..<500 where server.connections > 0 { try await Task.sleep(nanoseconds: 10_000_000) }
            #expect(server.connections == 0)
        }
    }

    @Test func `a response body that stalls delivers the bytes that arrived, and then ends with a timeout`()
        async throws
    {
        var reply = TestServer.Reply.status("200 OK", body: "01234567")
        reply.text.removeLast(3)
        reply.closes = false
        try await serving(reply, timeout: 0.3) { _, request in
            var received = Data()
            await #expect(throws: TransportFailure.timedOut(seconds: 0.3)) {
                try await transport.receive(request, accept: { _ in true }, body: { received += $0 })
            }
            #expect(received == Data("01234".utf8))
        }
    }

    @Test func `a request to a server that never responds ends with a timeout`() async throws {
        try await serving(.never, timeout: 0.2) { _, request in
            await #expect(throws: TransportFailure.timedOut(seconds: 0.2)) {
                try await transport.receive(request, accept: { _ in true }, body: { _ in })
            }
        }
    }

    @Test func `a streamed body above the maximum body size ends with an error`() async throws {
        try await serving(.status("200 OK", body: Self.text), limit: 10_000) { _, request in
            await #expect(throws: TransportFailure.bodyTooLarge(limit: 10_000)) {
                try await transport.receive(request, accept: { _ in true }, body: { _ in })
            }
        }
    }

    @Test func `a streamed body of exactly the maximum body size is delivered`() async throws {
        try await serving(.status("200 OK", body: Self.text), limit: Self.text.utf8.count) { _, request in
            var received = Data()
            _ = try await transport.receive(request, accept: { _ in true }, body: { received += $0 })
            #expect(received == Data(Self.text.utf8))
        }
    }

    @Test func `a streamed request to an unreachable server fails, and no head is delivered`() async throws {
        let request = TransportRequest(try #require(URL(string: "http://127.0.0.1:1")), timeout: 60, bodyLimit: 10)
        let failure = await #expect(throws: TransportFailure.self) {
            try await transport.receive(
                request,
                accept: { _ in
                    Issue.record("a head was delivered")
                    return true
                }, body: { _ in })
        }
        guard case .connection? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test func `a connection that breaks during the body delivers the bytes that arrived, and then throws`()
        async throws
    {
        var reply = TestServer.Reply.status("200 OK", body: Self.text)
        reply.text.removeLast(50_000)
        try await serving(reply) { _, request in
            var count = 0
            await #expect(throws: TransportFailure.self) {
                try await transport.receive(request, accept: { _ in true }, body: { count += $0.count })
            }
            #expect(count == Self.text.utf8.count - 50_000)
        }
    }

    @Test func `a request for a byte range asks for an unencoded body`() async throws {
        try await serving(.status("206 Partial Content", body: "0123")) { server, request in
            var request = request
            request.setRange(10..<14)
            _ = try await transport.receive(request, accept: { _ in true }, body: { _ in })
            let head = try #require(server.heads.first)
            #expect(head.contains("Range: bytes=10-13"))
            #expect(head.contains("Accept-Encoding: identity"))
        }
    }
}
