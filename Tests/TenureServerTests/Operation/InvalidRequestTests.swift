import CommandRunner
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import TenureAPI
import TenureAppStore
import TenureJSON
import Testing

@testable import TenureServer

/// Sends random requests, most of them invalid, to every route of the OpenAPI document. Every response must be one that
/// the document describes.
@Suite struct `invalid requests to all routes` {
    private static let rounds = ProcessInfo.processInfo.environment["TENURE_SOAK"] == nil ? 50 : 2000

    @Test
    func `random requests to all routes get responses that the OpenAPI document describes, never a 3xx or 5xx status`()
        async throws
    {
        let document = try InterfaceDocument()
        let seed = UInt64.random(in: .min ... .max)
        let folder = try Folder()
        try PublishedContent(in: folder.path).publishThree()
        try await withService({
            $0.metrics = .open
            $0.limits.bodySize = 100_000
            $0.content = ContentSettings(folder: folder.path + "/published")
        }) { client in
            var invalidRequests = InvalidRequests(seed: seed)
            for operation in document.operations {
                // A route that reads neither a body nor a parameter gets fewer requests.
                let takesMore = operation.fields["requestBody"] != nil || operation.path.contains("{")
                for _ in 0..<(takesMore ? Self.rounds : Self.rounds / 5) {
                    let (path, headers, body) = invalidRequests.request(for: operation, in: document)
                    let method = try #require(HTTPRequest.Method(operation.method))
                    let response = try await client.http.execute(
                        uri: path, method: method, headers: headers, body: body
                    ) { $0 }
                    let summary = "seed \(seed): \(operation.name) \(path) returned \(response.status)"
                    #expect(response.status.code < 500, "\(summary)")
                    #expect(response.status.kind == .successful || response.status.kind == .clientError, "\(summary)")
                    #expect(document.mistakes(of: response, to: operation) == [], "\(summary)")
                }
            }
        }
    }

    @Test(arguments: [
        "\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}",
        "GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 200_000) + "\r\n\r\n",
        "GET / HTTP/1.1\r\n" + String(repeating: "A: a\r\n", count: 2000) + "\r\n",
        "POST /v1/sync HTTP/1.1\r\nContent-Length: -1\r\n\r\n{}",
        "POST /v1/sync HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        "POST /v1/sync HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST /v1/sync HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n",
        "GET /\u{0} HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "CONNECT example.com:443 HTTP/1.1\r\n\r\n",
    ])
    func `bytes that aren't valid HTTP end their own connection, and the service answers another connection`(
        bytes: String
    ) async throws {
        try await withLiveService({
            $0.timeouts.head = 1
            $0.timeouts.body = 1
            $0.timeouts.idle = 1
        }) { _, port in
            let connection = try RawConnection(port: port)
            connection.send(bytes)
            let answer = try #require(await connection.received(), "it hangs")
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(answer)")
            let other = try RawConnection(port: port)
            other.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(await other.received()?.contains("200 OK") == true)
        }
    }

    @Test func `a request with a method that its path doesn't accept gets the list of accepted methods`() async throws {
        let document = try InterfaceDocument()
        try await withService { client in
            for (path, operations) in Dictionary(grouping: document.operations, by: \.path) {
                var acceptedMethods = Set(operations.map(\.method))
                if acceptedMethods.contains("GET") { acceptedMethods.insert("HEAD") }
                let uri = path.replacing("{", with: "").replacing("}", with: "")
                for method in HTTPRequest.Method.common where !acceptedMethods.contains(method.rawValue) {
                    let response = try await client.http.execute(uri: uri, method: method) { $0 }
                    #expect(response.status == .methodNotAllowed, "\(method) \(path)")
                    #expect(response.headers[.allow] == acceptedMethods.sorted().joined(separator: ", "))
                }
            }
            #expect(
                try client.problem(try await client.http.execute(uri: "/v1/sync", method: .get) { $0 }).code
                    == .methodNotAllowed)
            #expect(try client.problem(try await client.get("/nowhere")).code == .notFound)
        }
    }

    @Test func `a HEAD request gets the response of GET without a body`() async throws {
        try await withLiveService { client, port in
            let head = try await client.http.execute(uri: "/health/live", method: .head) { $0 }
            #expect(head.status == .ok)
            #expect(head.body.readableBytes == 0)
            #expect(try await client.http.execute(uri: "/v1/customer", method: .head) { $0 }.status == .unauthorized)
            // HTTP clients drop the body of a response to `HEAD`, so this test reads the bytes from a socket.
            for path in ["/health/live", "/v1/customer", "/v1/sync", "/nowhere"] {
                let connection = try RawConnection(port: port)
                connection.send("HEAD \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                #expect(await connection.received()?.hasSuffix("\r\n\r\n") == true, "\(path)")
            }
        }
    }
}
