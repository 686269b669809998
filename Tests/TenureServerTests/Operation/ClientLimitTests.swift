import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TenureAPI
import TenureAppStore
import TenureCore
import Testing

@testable import TenureServer

@Suite struct `limits for clients` {
    @Test func `a client over its rate limit is asked to wait for an hour at most`() async throws {
        try await withLiveService({ $0.rateLimits.perAddress = .init(perSecond: 0.0001, burst: 1) }) { client, _ in
            let first = try await client.get("/.well-known/jwks.json")
            #expect(first.status == .ok)
            let refused = try await client.get("/.well-known/jwks.json")
            #expect(refused.headers[.retryAfter] == "3600")
            #expect(
                try client.problem(refused).detail
                    == "too many requests in a short time; send this request again after 3600 s")
            let notification = try await client.notify(body: "{}")
            #expect(notification.status.code == 503 && notification.headers[.retryAfter] == "3600")
            #expect(
                try client.problem(notification).detail
                    == "too many notifications in a short time; send this notification again")
        }
    }

    @Test func `a request with a Forwarded header isn't local, even from loopback`() throws {
        let socket = try #require(NetworkAddress("127.0.0.1"))
        func peer(_ name: String, _ value: String) throws -> Peer {
            var headers = HTTPFields()
            headers[try #require(HTTPField.Name(name))] = value
            return Peer(socket: socket, headers: headers, proxies: [])
        }
        #expect(try peer("X-Other", "for=192.0.2.1").isLocal)
        for (name, value) in [("Forwarded", "for=192.0.2.1"), ("forwarded", ""), ("X-Forwarded-For", "127.0.0.1")] {
            let peer = try peer(name, value)
            #expect(!peer.isLocal && !peer.isBehindProxy && peer.address == socket, "\(name)")
        }
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.255.255.255", true), ("::1", true), ("::ffff:127.0.0.1", true),
        ("126.255.255.255", false), ("128.0.0.0", false), ("::2", false), ("::", false), ("1::1", false),
    ])
    func `only 127.0.0.0/8 and ::1 are loopback`(text: String, isLoopback: Bool) throws {
        let address = try #require(NetworkAddress(text))
        #expect(address.isLoopback == isLoopback)
    }

    @Test func `an IPv6 client is identified by its first 64 bits, and an IPv4 client by its address`() {
        func client(_ text: String) -> String? { NetworkAddress(text)?.ofClient.description }
        #expect(client("2001:db8:1:2:ffff:ffff:ffff:ffff") == "2001:db8:1:2::")
        #expect(client("2001:db8:1:3::1") == "2001:db8:1:3::")
        #expect(client("192.0.2.255") == "192.0.2.255")
    }

    @Test func `requests to the App Store go to Apple's servers by default`() {
        let hosts = AppStoreHosts()
        #expect(hosts.url(of: .production) == "https://api.storekit.apple.com")
        #expect(hosts.url(of: .sandbox) == "https://api.storekit-sandbox.apple.com")
        #expect(hosts.url(of: .xcode) == nil && hosts.mistake == nil)
    }
}
