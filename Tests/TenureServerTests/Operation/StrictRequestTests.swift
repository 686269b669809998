import CommandRunner
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TenureAPI
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

/// Sends raw bytes over a socket, because no HTTP library sends such requests.
@Suite struct `ambiguous HTTP requests` {
    private func answer(_ request: String, port: Int) async throws -> String {
        try await answer(Array(request.utf8), port: port)
    }

    private func answer(_ request: [UInt8], port: Int) async throws -> String {
        let connection = try RawConnection(port: port)
        connection.send(request)
        return try #require(await connection.received())
    }

    private func post(_ body: [UInt8], to path: String = "/v1/sync", key: String? = nil, port: Int) async throws
        -> String
    {
        let authorization = key.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let head =
            "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\(authorization)"
            + "Connection: close\r\nContent-Length: \(body.count)\r\n\r\n"
        return try await answer(Array(head.utf8) + body, port: port)
    }

    // MARK: Host

    @Test(arguments: [
        "", "Host: a\r\nHost: a\r\n", "Host: a\r\nHOST: b\r\n", "Host: a b\r\n", "Host: user@a\r\n", "Host: a/b\r\n",
        "Host: a, b\r\n",
    ])
    func `a request over HTTP 1.1 without exactly one valid Host is refused`(hosts: String) async throws {
        try await withLiveService { _, port in
            let connection = try RawConnection(port: port)
            connection.send("GET /health/live HTTP/1.1\r\n\(hosts)\r\n")
            let answer = try #require(await connection.received(until: "\r\n\r\n"))
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
        }
    }

    @Test(arguments: [
        "HTTP/1.1\r\nHost: localhost:80\r\n", "HTTP/1.1\r\nhost: [::1]:8080\r\n", "HTTP/1.0\r\n",
        "HTTP/1.0\r\nHost: a\r\n",
    ])
    func `a request with one Host is served, and an HTTP 1.0 request needs no Host`(rest: String) async throws {
        try await withLiveService { _, port in
            let answer = try await answer("GET /health/live \(rest)Connection: close\r\n\r\n", port: port)
            #expect(answer.contains(" 200 OK"), "\(answer)")
        }
    }

    // RFC 9110, section 4.2: only URLs with the schemes `http` and `https`, and without a user, are resources of HTTP.
    @Test(arguments: [
        "ftp://localhost/v1/products", "file:///v1/products", "httpx://localhost/v1/products", "http:/v1/products",
        "http:///v1/products", "http://user@localhost/v1/products", "ws://localhost/v1/products",
        "javascript:/v1/products", "localhost/v1/products", "localhost:80", "*",
    ])
    func `a request for a target that isn't an HTTP URL is refused`(target: String) async throws {
        try await withLiveService { _, port in
            let connection = try RawConnection(port: port)
            connection.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let answer = try #require(await connection.received(until: "\r\n\r\n"))
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
        }
    }

    @Test(arguments: [
        "http://localhost/v1/products", "HTTP://[::1]:8080/health/live?a=b", "https://a.example/v1/products",
    ])
    func `a request for a full HTTP URL is served, whatever its host`(target: String) async throws {
        try await withLiveService { _, port in
            let answer = try await answer(
                "GET \(target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", port: port)
            #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
        }
    }

    @Test func `an ambiguous request ends the connection after the responses to earlier requests`() async throws {
        try await withLiveService { _, port in
            let good = "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n"
            let connection = try RawConnection(port: port)
            connection.send(good + "GET /health/live HTTP/1.1\r\n\r\n" + good)
            let answer = try #require(await connection.received(until: "400 Bad Request\r\n"))
            #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 3, "\(answer)")
            #expect(answer.hasPrefix("HTTP/1.1 200 OK"))
        }
    }

    // RFC 9112, section 3.2.4.
    @Test func `OPTIONS gets 405 with the allowed methods, for the target * and for a route`()
        async throws
    {
        try await withLiveService { _, port in
            for (target, allowed) in [("*", "DELETE, GET, HEAD, POST"), ("/v1/products", "GET, HEAD")] {
                let answer = try await answer(
                    "OPTIONS \(target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", port: port)
                #expect(answer.hasPrefix("HTTP/1.1 405 "), "\(answer)")
                #expect(answer.contains("\r\nAllow: \(allowed)\r\n"), "\(answer)")
                #expect(answer.contains(#""code":"methodNotAllowed""#), "\(answer)")
            }
        }
    }

    // MARK: Paths

    private static let spellings = [
        "//v1/products", "/v1//products", "/v1/products/", "/v1/products//", "/v1/./products", "/./v1/products",
        "/v1/x/../products", "/v1/products/.", "/v1/products/..", "/v1/%70roducts", "/%761/products", "/v1/product%73",
        "/v1/%2E/products", "/v1/%2e%2e/v1/products", "/V1/products", "/v1/products%2f",
        "/v1/products;x", "/v1%2Fproducts",
    ]

    @Test func `a nonstandard spelling of a route's path isn't found, with or without the prefix of an app`()
        async throws
    {
        try await withLiveService { _, port in
            func status(_ path: String) async throws -> String {
                try await answer("GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", port: port)
            }
            #expect(try await status("/v1/products").hasPrefix("HTTP/1.1 200 "))
            #expect(try await status("/health/live?x=%41").hasPrefix("HTTP/1.1 200 "))
            // RFC 9112, section 3.2.2: a server must accept an absolute URL. Its path must have its canonical spelling,
            // too.
            #expect(try await status("http://localhost/v1/products").hasPrefix("HTTP/1.1 200 "))
            for spelling in Self.spellings + Self.spellings.map({ "http://localhost" + $0 }) {
                let answer = try await status(spelling)
                #expect(answer.hasPrefix("HTTP/1.1 404 "), "\(spelling): \(answer.prefix(40))")
            }
        }
        try await withFolder { folder in
            let configuration = try Calculator.configuration(folder)
            let apps = try AppsConfiguration([AppConfiguration(name: "calculator", configuration: configuration)])
            let application = try await buildApplication(apps, logger: Calculator.logger)
            try await application.test(.live) { http in
                let port = try #require(http.port)
                func status(_ path: String) async throws -> String {
                    try await answer("GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", port: port)
                }
                #expect(try await status("/apps/calculator/v1/products").hasPrefix("HTTP/1.1 200 "))
                for spelling in Self.spellings {
                    let answer = try await status("/apps/calculator" + spelling)
                    #expect(answer.hasPrefix("HTTP/1.1 404 "), "\(spelling): \(answer.prefix(40))")
                }
                for spelling in [
                    "//apps/calculator/v1/products", "/apps//calculator/v1/products", "/apps/%63alculator/v1/products",
                    "/%61pps/calculator/v1/products", "/apps/./calculator/v1/products", "/health/live/",
                    "//health/live",
                    "/apps/x/../calculator/v1/products", "/metrics/", "/apps/calculator", "/apps/calculator/",
                ] {
                    let answer = try await status(spelling)
                    #expect(answer.hasPrefix("HTTP/1.1 404 "), "\(spelling): \(answer.prefix(40))")
                }
            }
        }
    }

    @Test func `a nonstandard spelling of a number or an escape in a route's path isn't found`() async throws {
        try await withAdminClient { admin, _ in
            #expect(try await admin.get("/v1/admin/policies/1").status == .ok)
            for version in ["01", "+1", "%2B1", "1%20", "0x1"] {
                #expect(try await admin.get("/v1/admin/policies/\(version)").status == .notFound, "\(version)")
            }
            let name = try await admin.get("/v1/admin/policies/%C3%A4")
            #expect(name.problem?.detail.contains("ä") == true, "\(name.text)")
            for escape in ["%c3%a4", "%C3%a4", "%c3%A4"] {
                let lowercase = try await admin.get("/v1/admin/policies/\(escape)")
                #expect(lowercase.status == .notFound && lowercase.problem?.detail.contains("ä") != true)
            }
        }
    }

    @Test func `an escaped space or slash in a path parameter is accepted`() async throws {
        try await withAdminClient { admin, _ in
            let escaped = try await admin.delete("/v1/admin/personas/a%20b")
            #expect(escaped.problem?.detail.contains("path") != true)
            let slash = try await admin.get("/v1/admin/customers/a%2Fb")
            #expect(slash.status == .notFound)
        }
    }

    // MARK: Bodies

    private static let unsound: [(String, [UInt8])] = [
        ("a name twice", Array(#"{"receipt":"a","receipt":"a"}"#.utf8)),
        ("a name twice, once escaped", Array(#"{"receipt":"a","\u0072eceipt":"a"}"#.utf8)),
        ("an unknown name twice", Array(#"{"receipt":"a","later":1,"later":1}"#.utf8)),
        ("a name twice further in", Array(#"{"receipt":"a","later":[{"x":{"y":1,"\u0079":2}}]}"#.utf8)),
        ("Latin-1", Array(#"{"receipt":"a","later":""#.utf8) + [0xE4] + Array("\"}".utf8)),
        ("UTF-16", Array("\u{FEFF}{\"receipt\":\"a\"}".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }),
        ("a byte order mark", [0xEF, 0xBB, 0xBF] + Array(#"{"receipt":"a"}"#.utf8)),
        ("half a surrogate", Array(#"{"receipt":"\ud800"}"#.utf8)),
        ("a NUL", Array(#"{"receipt":"a\u0000"}"#.utf8)),
        ("a NUL in an unknown name", Array(#"{"receipt":"a","b\u0000":1}"#.utf8)),
        ("a raw NUL", Array("{\"receipt\":\"a\u{0}\"}".utf8)),
    ]

    @Test func `routes with a request body refuse an ambiguous body`() async throws {
        try await withLiveService({ $0.adminKey = AdminClient.adminKey }) { _, port in
            for path in [
                "/v1/sync", "/v1/notifications/apple", "/v1/admin/customers/find", "/v1/link",
                "/v1/admin/customers/cus_x/grants", "/v1/admin/personas", "/v1/admin/policies",
            ] {
                for (name, body) in Self.unsound {
                    let answer = try await post(body, to: path, key: AdminClient.adminKey, port: port)
                    #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(path), \(name): \(answer.prefix(40))")
                }
            }
            let sound = try await post(Array(#"{"receipt":"a","later":"\u00e4 \\u0000"}"#.utf8), port: port)
            #expect(sound.hasPrefix("HTTP/1.1 422 "), "\(sound)")
        }
    }

    @Test(arguments: ["gzip, chunked", "gzip\r\nTransfer-Encoding: chunked", "identity, chunked"])
    func `a request body with another transfer coding than chunked is refused`(coding: String) async throws {
        try await withLiveService { _, port in
            let connection = try RawConnection(port: port)
            connection.send(
                "POST /v1/sync HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                    + "Transfer-Encoding: \(coding)\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
            let answer = try #require(await connection.received(until: "}"))
            #expect(answer.hasPrefix("HTTP/1.1 415 ") && answer.contains("compressed"), "\(answer)")
            let chunked = try await self.answer(
                "POST /v1/sync HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n"
                    + "Transfer-Encoding: Chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", port: port)
            #expect(chunked.hasPrefix("HTTP/1.1 422 "), "\(chunked)")
        }
    }

    @Test(arguments: [
        "", "xchunked", "gzip", "identity", "chunked;q=1", "\"chunked\"", "chunked, gzip", "chunked,", "chunked\u{A0}",
        "chun\u{212A}ed",
    ])
    func `a request body without a known end gets 400, and the connection closes`(coding: String) async throws {
        try await withLiveService { _, port in
            let connection = try RawConnection(port: port)
            connection.send(
                "POST /v1/sync HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                    + "Transfer-Encoding: \(coding)\r\n\r\nGET /health/live HTTP/1.1\r\nHost: a\r\n\r\n")
            let answers = try #require(await connection.received())
            #expect(answers.hasPrefix("HTTP/1.1 400 "), "\(answers)")
            #expect(answers.components(separatedBy: "HTTP/1.1 ").count == 2, "\(answers)")
        }
    }

    @Test func `an HTTP 1.0 request with Transfer-Encoding gets 400, and the connection closes`() async throws {
        try await withLiveService { _, port in
            let answers = try await answer(
                "POST /v1/sync HTTP/1.0\r\nConnection: keep-alive\r\nContent-Type: application/json\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\nGET /v1/products HTTP/1.1\r\nHost: a\r\n\r\n",
                port: port)
            #expect(answers.contains(" 400 ") && answers.components(separatedBy: "HTTP/1.").count == 2, "\(answers)")
        }
    }

    @Test(arguments: [
        "HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n", "HTTP/1.1\r\nHost: a\r\nConnection: CLOSE\r\n",
        "HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, close\r\n",
        "HTTP/1.1\r\nHost: a\r\nConnection: close, TE\r\n",
        "HTTP/1.1\r\nHost: a\r\nConnection: TE\r\nConnection: close\r\n",
        "HTTP/1.0\r\n",
    ])
    func `the connection closes after the response if the request says so, or is HTTP 1.0`(rest: String) async throws {
        try await withLiveService { _, port in
            // `answer` waits until the service closes the connection.
            let answer = try await answer("GET /health/live \(rest)\r\n", port: port)
            #expect(answer.contains(" 200 OK"), "\(answer)")
        }
    }

    @Test func `a client of HTTP 1.0 gets no 100 Continue`() async throws {
        try await withLiveService { _, port in
            let connection = try RawConnection(port: port)
            connection.send("GET /health/live HTTP/1.0\r\nExpect: 100-continue\r\n\r\n")
            let answer = try #require(await connection.received(until: "{\"status\":\"ok\"}"))
            #expect(answer.hasPrefix("HTTP/1.1 200 ") || answer.hasPrefix("HTTP/1.0 200 "), "\(answer)")
        }
    }

    @Test func `a client that waits for 100 Continue gets it after the responses to earlier requests`() async throws {
        try await withLiveService { _, port in
            let connection = try RawConnection(port: port)
            connection.send(
                "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\nPOST /v1/sync HTTP/1.1\r\nHost: a\r\n"
                    + "Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n")
            let first = try #require(await connection.received(until: "100 Continue\r\n\r\n"))
            #expect(first.hasPrefix("HTTP/1.1 200 "), "\(first)")
            connection.send("{}")
            let second = try #require(await connection.received(until: "}"))
            #expect(second.hasPrefix("HTTP/1.1 422 "), "\(second)")
        }
    }

    @Test(arguments: [
        ("POST /v1/sync", "Content-Type: application/json\r\nContent-Length: 4194305", "413"),
        ("POST /v1/sync", "Content-Type: text/plain\r\nContent-Length: 2", "415"),
        ("POST /v1/notifications/apple", "Content-Length: 999999999", "413"),
        ("POST /v1/admin/policies", "Content-Type: application/json\r\nContent-Length: 2", "401"),
        ("POST /nowhere", "Content-Length: 2", "404"),
    ])
    func `a client that waits for 100 Continue gets the refusal of its request at once`(
        _ target: String, _ headers: String, _ status: String
    ) async throws {
        try await withLiveService({ $0.adminKey = AdminClient.adminKey }) { _, port in
            let connection = try RawConnection(port: port)
            connection.send("\(target) HTTP/1.1\r\nHost: a\r\n\(headers)\r\nExpect: 100-continue\r\n\r\n")
            let answer = try #require(await connection.received(until: "\r\n\r\n"))
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
            #expect(answer.lowercased().contains("\r\nconnection: close\r\n"), "\(answer)")
        }
    }

    @Test func `a request body with more names than any valid body gets 400`() async throws {
        try await withService { client in
            func names(_ count: Int) -> String {
                "{" + (0..<count).map { "\"n\($0)\":{}" }.joined(separator: ",") + "}"
            }
            let most = try await client.post(names(1000))
            #expect(most.status == .unprocessableContent, "\(String(buffer: most.body))")
            let more = try await client.post(names(1001))
            #expect(more.status == .badRequest)
            #expect(
                String(buffer: more.body).contains("there are more than 1000 names"), "\(String(buffer: more.body))")
        }
    }

    @Test(arguments: ["9223372036854775807", "9223372036854775808", "18446744073709551614"])
    func `a request body with an enormous Content-Length is refused at once`(length: String) async throws {
        try await withLiveService { _, port in
            let connection = try RawConnection(port: port)
            connection.send(
                "POST /v1/sync HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: \(length)\r\n\r\n{"
            )
            let answer = try #require(await connection.received(until: "\r\n\r\n"))
            #expect(answer.hasPrefix("HTTP/1.1 413 "), "\(answer)")
        }
    }

    @Test(arguments: [
        "/v1/admin/customers?id=a%00b", "/v1/admin/customers/cus%00", "/v1/admin/orders/M%00", "/v1/products?a=%00",
        "/v1/admin/customers/cus_x/links/%00", "/nowhere%00",
    ])
    func `a request with a NUL in its path or query is refused`(path: String) async throws {
        try await withLiveService({ $0.adminKey = AdminClient.adminKey }) { _, port in
            let answer = try await answer(
                "GET \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(AdminClient.adminKey)\r\nConnection: close\r\n\r\n",
                port: port)
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer.prefix(40))")
            #expect(answer.contains("the path or query contains a NUL (`%00`); remove it"), "\(answer)")
        }
    }
}
