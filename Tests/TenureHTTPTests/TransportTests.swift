import Foundation
import Testing

@testable import TenureHTTP

@Suite(.timeLimit(.minutes(5))) struct TransportTests {
    private func serving(
        _ reply: TestServer.Reply, _ body: (TestServer, TransportRequest) async throws -> Void
    ) async throws {
        let server = try TestServer { _ in reply }
        defer { server.stop() }
        try await body(server, TransportRequest(server.url, timeout: 60, bodyLimit: 10))
    }

    private let transport = URLSessionTransport.shared

    @Test func `the server receives a request's method and headers, and the client receives the whole response`()
        async throws
    {
        try await serving(.status("201 Created", headers: ["X-Answer: yes"], body: "0123456789")) { server, request in
            var request = request
            request.headers["Authorization"] = "Bearer a"
            request.post(json: Data("{}".utf8))
            let response = try await transport.send(request)
            #expect(response.status == 201)
            #expect(response.header("x-ANSWER") == "yes")
            #expect(response.body == Data("0123456789".utf8))
            let head = try #require(server.heads.first)
            #expect(head.hasPrefix("POST / HTTP/1.1"))
            #expect(head.contains("Authorization: Bearer a"))
            #expect(head.contains("Content-Length: 2"))
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `the transport returns a redirect as a response, and doesn't follow it`(status: Int) async throws {
        try await serving(.status("\(status) Elsewhere", headers: ["Location: /other"])) { server, request in
            let response = try await transport.send(request)
            #expect(response.status == status)
            #expect(server.heads.count == 1)
        }
    }

    @Test(arguments: ["Basic realm=\"a\"", "Digest realm=\"a\"", "Bearer", "Negotiate"])
    func `the transport returns a 401 response, whatever authentication it requests`(challenge: String) async throws {
        try await serving(.status("401 Unauthorized", headers: ["WWW-Authenticate: \(challenge)"], body: "no")) {
            let response = try await transport.send($1)
            #expect(response.status == 401)
            #expect(response.body == Data("no".utf8))
        }
    }

    @Test func `the transport doesn't send back cookies that a server set`() async throws {
        try await serving(.status("200 OK", headers: ["Set-Cookie: a=b; Path=/"])) { server, request in
            _ = try await transport.send(request)
            _ = try await transport.send(request)
            _ = try transport.sendBlocking(request)
            #expect(server.heads.count == 3)
            #expect(server.heads.allSatisfy { !$0.lowercased().contains("cookie:") })
        }
    }

    @Test func `the transport doesn't cache responses`() async throws {
        try await serving(.status("200 OK", headers: ["Cache-Control: max-age=3600"])) { server, request in
            _ = try await transport.send(request)
            _ = try await transport.send(request)
            #expect(server.heads.count == 2)
        }
    }

    @Test func `a request fails if the response's body is longer than the limit`() async throws {
        try await serving(.status("200 OK", body: "0123456789a")) { _, request in
            await #expect(throws: TransportFailure.bodyTooLarge(limit: 10)) { try await transport.send(request) }
        }
    }

    @Test func `an async call and a blocking call both time out if the server doesn't respond`()
        async throws
    {
        try await serving(.never) { server, request in
            var request = request
            request.timeout = 0.2
            await #expect(throws: TransportFailure.timedOut(seconds: 0.2)) { try await transport.send(request) }
            #expect(throws: TransportFailure.timedOut(seconds: 0.2)) { try transport.sendBlocking(request) }
            while server.connections > 0 { try await Task.sleep(nanoseconds: 10_000_000) }
        }
    }

    @Test func `a blocking request fails for a body above the limit, and for an unreachable server`() async throws {
        try await serving(.status("200 OK", body: "0123456789a")) { _, request in
            #expect(throws: TransportFailure.bodyTooLarge(limit: 10)) { try transport.sendBlocking(request) }
        }
        let url = try #require(URL(string: "http://127.0.0.1:1"))
        do throws(TransportFailure) {
            _ = try transport.sendBlocking(TransportRequest(url, timeout: 60, bodyLimit: 10))
            Issue.record("the server has responded")
        } catch {
            guard case .connection = error else { throw error }
        }
    }

    @Test func `a blocking request returns the response`() async throws {
        try await serving(.status("200 OK", body: "yes")) { _, request in
            let response = try transport.sendBlocking(request)
            #expect(response.body == Data("yes".utf8))
        }
    }

    @Test func `40 long polls that wait for a response don't delay another request`() async throws {
        let server = try TestServer { $0 == "/poll" ? .never : .status("200 OK") }
        defer { server.stop() }
        let request = TransportRequest(server.url, timeout: 60, bodyLimit: 10)
        let poll = TransportRequest(server.url.appendingPathComponent("poll"), timeout: 60, bodyLimit: 10)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 { group.addTask { [transport] in _ = try? await transport.send(poll) } }
            while server.connections < 40 { try await Task.sleep(nanoseconds: 1_000_000) }
            let response = try await transport.send(request)
            #expect(response.status == 200)
            group.cancelAll()
        }
    }

    @Test func `an unreachable server and an unknown scheme are connection failures`() async throws {
        for address in ["http://127.0.0.1:1", "ftp://127.0.0.1", "nonsense://a", "http:"] {
            let request = TransportRequest(try #require(URL(string: address)), timeout: 60, bodyLimit: 10)
            do throws(TransportFailure) {
                _ = try await transport.send(request)
                Issue.record("\(address) has responded")
            } catch {
                guard case .connection = error else { throw error }
            }
        }
    }
}
