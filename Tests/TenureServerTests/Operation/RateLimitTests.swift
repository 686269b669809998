import CommandRunner
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import TenureAPI
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `rate limits` {
    private static let second: UInt64 = 1_000_000_000

    @Test func `rate limits allow a burst, then the rate, and return how long to wait`() throws {
        let buckets = try #require(TokenBuckets(.init(perSecond: 2, burst: 3)))
        for _ in 0..<3 { #expect(buckets.take(1, at: 0) == nil) }
        #expect(buckets.take(1, at: 0) == 0.5)
        #expect(buckets.take(2, at: 0) == nil, "another client isn't limited")
        #expect(buckets.take(1, at: Self.second / 2) == nil)
        #expect(buckets.take(1, at: Self.second / 2) != nil)
        // A full burst is allowed again after a long silence, and no more than that.
        for _ in 0..<3 { #expect(buckets.take(1, at: 100 * Self.second) == nil) }
        #expect(buckets.take(1, at: 100 * Self.second) != nil)
    }

    @Test func `a rate of zero is no limit`() {
        #expect(TokenBuckets(.unlimited) == nil)
        #expect(TokenBuckets(.init(perSecond: 0, burst: 5)) == nil)
    }

    @Test func `a rate without a burst lets single requests through`() throws {
        let buckets = try #require(TokenBuckets(.init(perSecond: 1, burst: 0)))
        #expect(buckets.take(1, at: 0) == nil)
        #expect(buckets.take(1, at: 0) == 1)
        #expect(buckets.take(1, at: 1_000_000_000) == nil)
    }

    @Test func `rate limits survive a clock that goes backward`() throws {
        let buckets = try #require(TokenBuckets(.init(perSecond: 1, burst: 1)))
        #expect(buckets.take(1, at: 5 * Self.second) == nil)
        #expect(buckets.take(1, at: 0) != nil)
        #expect(buckets.take(1, at: 6 * Self.second) == nil)
    }

    @Test func `rate limits remember a frequent client among thousands of clients, in limited memory`() throws {
        let buckets = try #require(TokenBuckets(.init(perSecond: 0.001, burst: 1), capacity: 100))
        #expect(buckets.take(0, at: 0) == nil)
        for stranger in 1...10_000 {
            #expect(buckets.take(UInt64(stranger), at: 0) == nil)
            if stranger.isMultiple(of: 50) { #expect(buckets.take(0, at: 0) != nil, "forgotten at \(stranger)") }
            #expect(buckets.count <= 200)
        }
    }

    @Test func `a client over its address's rate limit gets 429 with the time to wait`() async throws {
        try await withLiveService({ $0.rateLimits.perAddress = .init(perSecond: 0.001, burst: 3) }) { client, _ in
            for _ in 0..<3 { #expect(try await client.get("/.well-known/jwks.json").status == .ok) }
            let refused = try await client.get("/.well-known/jwks.json")
            #expect(try client.problem(refused).code == .tooManyRequests)
            let wait = try #require(refused.headers[.retryAfter].flatMap { Int($0) })
            #expect((1...1000).contains(wait))
            // The limit applies to every route, and to unknown routes.
            #expect(try await client.get("/nowhere").status == .tooManyRequests)
            // The App Store sends a notification again after a 503. Health checks aren't limited, so no supervisor
            // restarts the service.
            let notification = try await client.http.execute(
                uri: "/v1/notifications/apple", method: .post, headers: [.contentType: "application/json"],
                body: ByteBuffer(string: "{}")
            ) { $0 }
            #expect(try client.problem(notification).code == .busy)
            #expect(notification.headers[.retryAfter] != nil)
            #expect(try await client.get("/health/live").status == .ok)
        }
    }

    @Test func `a rate limit for an access token affects only this token`() async throws {
        try await withService({ $0.rateLimits.perToken = .init(perSecond: 0.001, burst: 2) }) { client in
            for _ in 0..<2 { #expect(try await client.get("/v1/customer", token: "a").status == .unauthorized) }
            #expect(try await client.get("/v1/customer", token: "a").status == .tooManyRequests)
            // The scheme's name may be written in any case, and doesn't make it another token.
            for scheme in ["bearer", "BEARER"] {
                let status = try await client.http.execute(
                    uri: "/v1/customer", method: .get, headers: [.authorization: "\(scheme) a"]
                ) { $0.status }
                #expect(status == .tooManyRequests)
            }
            #expect(try await client.get("/v1/customer", token: "b").status == .unauthorized)
            let without = try await client.get("/v1/customer")
            #expect(without.status == .unauthorized)
        }
    }

    @Test func `a notification above the rate limit gets 503, and isn't logged as a failure of the service`()
        async throws
    {
        let lines = LogLines()
        try await withFolder { folder in
            var configuration = try Calculator.configuration(folder)
            configuration.rateLimits.perToken = .init(perSecond: 0.001, burst: 1)
            let service = try await TenureService(configuration)
            let application = try service.application(logger: lines.logger(.info)) { _ in }
            try await application.test(.router) { http in
                var statuses: [Int] = []
                for _ in 0..<2 {
                    let status = try await http.execute(
                        uri: "/v1/notifications/apple", method: .post,
                        headers: [.authorization: "Bearer a", .contentType: "application/json"],
                        body: ByteBuffer(string: "{}")
                    ) { $0.status.code }
                    statuses.append(status)
                }
                #expect(statuses == [400, 503])
                #expect(!lines.texts.contains { $0.contains(#""message":"request refused""#) }, "\(lines.texts)")
            }
            try await service.store.close()
        }
    }

    @Test func `rate limits behind a proxy apply to the client address in X-Forwarded-For`() async throws {
        let field = try #require(HTTPField.Name("X-Forwarded-For"))
        try await withLiveService({
            $0.rateLimits.perAddress = .init(perSecond: 0.001, burst: 1)
            $0.proxies = [try #require(AddressBlock("127.0.0.1"))]
            $0.adminKey = AdminClient.adminKey
            $0.allowsTestAnchorsBeyondLoopback = true
        }) { client, _ in
            func ask(as address: String) async throws -> HTTPResponse.Status {
                try await client.http.execute(uri: "/.well-known/jwks.json", method: .get, headers: [field: address]) {
                    $0.status
                }
            }
            let first = try await ask(as: "203.0.113.1")
            #expect(first == .ok)
            #expect(try await ask(as: "203.0.113.1") == .tooManyRequests)
            #expect(try await ask(as: "203.0.113.2") == .ok)
            #expect(try await ask(as: "6.6.6.6, 203.0.113.2") == .tooManyRequests)
            #expect(try await ask(as: "2001:db8:0:1::1") == .ok)
            #expect(try await ask(as: "2001:db8:0:1:ffff::2") == .tooManyRequests)
            #expect(try await ask(as: "2001:db8:0:2::1") == .ok)
        }
    }
}

@Suite struct `requests in progress behind a proxy` {
    @Test func `a client's request counts until it has its response`() async throws {
        let field = try #require(HTTPField.Name("X-Forwarded-For"))
        try await withLiveService({
            $0.limits.connectionsPerAddress = 1
            $0.proxies = [try #require(AddressBlock("127.0.0.1"))]
            $0.adminKey = AdminClient.adminKey
            $0.allowsTestAnchorsBeyondLoopback = true
        }) { client, port in
            func get(as address: String) async throws -> TestResponse {
                try await client.http.execute(
                    uri: "/.well-known/jwks.json", method: .get, headers: [field: address]
                ) { $0 }
            }
            let waiting = try RawConnection(port: port)
            waiting.send(
                "POST /v1/sync HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.1\r\nContent-Type: application/json\r\n"
                    + "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            // Now the service waits for the body.
            #expect(await waiting.received(until: "100 Continue\r\n\r\n") != nil)
            let refused = try await get(as: "203.0.113.1")
            #expect(try client.problem(refused).code == .tooManyRequests)
            #expect(refused.headers[.retryAfter] == "1")
            #expect(try await get(as: "203.0.113.2").status == .ok)
            waiting.send("{}")
            #expect(await waiting.received(until: "}")?.hasPrefix("HTTP/1.1 422 ") == true)
            for _ in 0..<3 { #expect(try await get(as: "203.0.113.1").status == .ok) }
        }
    }
}

/// Runs a service on a socket, and passes its port.
func withLiveService(
    _ change: (inout ServiceConfiguration) throws -> Void = { _ in },
    _ body: @Sendable (Client, Int) async throws -> Void
) async throws {
    try await withFolder { folder in
        var configuration = try Calculator.configuration(folder)
        try change(&configuration)
        let application = try await buildApplication(configuration: configuration, logger: Calculator.logger)
        try await application.test(.live) { http in
            try await body(Client(http: http), try #require(http.port))
        }
    }
}
