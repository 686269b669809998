import CommandRunner
import Foundation
import TenureAPI
import Testing

@testable import TenureServer

/// The service listens on a socket behind a declared proxy, so each test chooses the client's address.
@Suite struct `the limit of wrong admin keys` {
    private func withProxiedService(_ body: @Sendable (Int) async throws -> Void) async throws {
        try await withLiveService({
            $0.proxies = [try #require(AddressBlock("127.0.0.1"))]
            $0.adminKey = AdminClient.adminKey
            $0.allowsTestAnchorsBeyondLoopback = true
        }) { _, port in try await body(port) }
    }

    private func status(
        _ path: String = "/v1/admin/audit", key: String?, from address: String, port: Int
    ) async throws -> Int? {
        let connection = try RawConnection(port: port)
        let authorization = key.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        connection.send(
            "GET \(path) HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: \(address)\r\n\(authorization)"
                + "Connection: close\r\n\r\n")
        return await connection.received()?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }

    @Test(arguments: ["/v1/admin/audit", "/metrics"])
    func `ten wrong admin keys limit further wrong keys, but not requests with the right key or no key`(path: String)
        async throws
    {
        try await withProxiedService { port async throws in
            func status(_ key: String?) async throws -> Int? {
                try await self.status(path, key: key, from: "198.51.100.7", port: port)
            }
            for _ in 0..<2 * WrongKeyLimit.limit { #expect(try await status(nil) == 401) }
            for _ in 0..<WrongKeyLimit.limit { #expect(try await status(KeySecret().text) == 401) }
            #expect(try await status(KeySecret().text) == 429)
            #expect(try await status("wrong") == 429)
            #expect(try await status(nil) == 401)
            #expect(try await status(AdminClient.adminKey) == 200)
            #expect(try await status("wrong") == 429, "a request with the right key doesn't reset the limit")
        }
    }

    @Test func `the limit of wrong admin keys covers the /64 network of an IPv6 client, but no other addresses`()
        async throws
    {
        try await withProxiedService { port async throws in
            for number in 0..<WrongKeyLimit.limit {
                #expect(try await status(key: "wrong", from: "2001:db8:1:1:\(number)::7", port: port) == 401)
            }
            #expect(try await status(key: "wrong", from: "2001:db8:1:1:ffff::1", port: port) == 429)
            #expect(try await status(key: "wrong", from: "2001:db8:1:2::1", port: port) == 401)
            #expect(try await status(key: "wrong", from: "198.51.100.8", port: port) == 401)
        }
    }
}
