import Foundation
import NIOCore
import Testing

@testable import TenureServer

/// How the URL of a webhook is read, and at which addresses its boundaries are.
@Suite struct `the URL of a webhook` {
    struct Case: Sendable, CustomStringConvertible {
        let url: String
        let host: String
        let port: Int
        let path: String
        let header: String

        var description: String { url }
    }

    @Test(arguments: [
        Case(
            url: "https://Hooks.Example.com", host: "hooks.example.com", port: 443, path: "/",
            header: "hooks.example.com"),
        Case(
            url: "https://example.com:443/x", host: "example.com", port: 443, path: "/x", header: "example.com"),
        Case(
            url: "https://example.com:8443/a%20b?c=d%26e", host: "example.com", port: 8443, path: "/a%20b?c=d%26e",
            header: "example.com:8443"),
        Case(
            url: "https://example.com:65535?x=1", host: "example.com", port: 65_535, path: "/?x=1",
            header: "example.com:65535"),
        Case(url: "https://example.com:1/", host: "example.com", port: 1, path: "/", header: "example.com:1"),
        Case(
            url: "https://example.com:80/", host: "example.com", port: 80, path: "/", header: "example.com:80"),
        Case(url: "http://localhost/", host: "localhost", port: 80, path: "/", header: "localhost"),
        Case(url: "http://localhost:443/", host: "localhost", port: 443, path: "/", header: "localhost:443"),
        Case(
            url: "https://[2001:db8::1]:8443/", host: "2001:db8::1", port: 8443, path: "/",
            header: "[2001:db8::1]:8443"),
        Case(url: "https://[2001:db8::1]/", host: "2001:db8::1", port: 443, path: "/", header: "[2001:db8::1]"),
    ])
    func `a webhook's URL gives the host, port, path and Host header of its requests`(_ expected: Case) throws {
        let target = try WebhookTarget(expected.url, allowsPrivate: true)
        #expect(target.isEncrypted == expected.url.hasPrefix("https"))
        #expect(target.host == expected.host && target.port == expected.port)
        #expect(target.path == expected.path && target.hostHeader == expected.header)
    }

    @Test(arguments: [
        ("http://example.com/", "the URL of `example.com` has no TLS; use https, or `allowPrivate: true` for loopback"),
        ("ftp://example.com/", "the URL scheme `ftp` isn't supported; use https"),
        (
            "https://user@example.com/",
            "the URL has a user, a password or a fragment, which aren't sent; remove them"
        ),
        ("https://example.com:0/", "`0` isn't a valid port; use one from 1 to 65535"),
        ("https:///path", "the URL is invalid; write it as `https://example.com/path`"),
    ])
    func `a mistake in a webhook's URL has its own error message`(url: String, detail: String) {
        let mistake = #expect(throws: WebhookTarget.Mistake.self) { try WebhookTarget(url, allowsPrivate: false) }
        #expect(mistake?.detail == detail)
    }

    @Test func `a webhook's URL with a port above 65535 is refused`() {
        #expect(throws: WebhookTarget.Mistake.self) {
            try WebhookTarget("https://example.com:65536/", allowsPrivate: false)
        }
    }

    /// The addresses on both sides of each boundary of the special ranges.
    @Test(arguments: [
        ("0.255.255.255", false), ("1.0.0.0", true), ("9.255.255.255", true), ("10.0.0.0", false),
        ("10.255.255.255", false), ("11.0.0.0", true), ("100.128.0.0", true), ("126.255.255.255", true),
        ("127.255.255.255", false), ("128.0.0.0", true), ("169.253.255.255", true), ("169.254.0.0", false),
        ("169.254.255.255", false), ("169.255.0.0", true), ("172.15.255.255", true), ("191.255.255.255", true),
        ("192.0.0.255", false), ("192.0.1.0", true), ("192.0.1.255", true), ("192.0.2.255", false),
        ("192.0.3.0", true), ("192.88.98.255", true), ("192.88.99.0", false), ("192.88.99.255", false),
        ("192.88.100.0", true), ("192.167.255.255", true), ("192.168.255.255", false), ("192.169.0.0", true),
        ("198.17.255.255", true), ("198.18.0.0", false), ("198.19.255.255", false), ("198.20.0.0", true),
        ("198.51.99.255", true), ("198.51.100.0", false), ("198.51.100.255", false), ("198.51.101.0", true),
        ("203.0.112.255", true), ("203.0.113.0", false), ("203.0.113.255", false), ("203.0.114.0", true),
        ("239.255.255.255", false), ("240.0.0.1", false),
        ("1fff:ffff::1", false), ("2001:1ff:ffff::1", false), ("2001:200::1", true), ("2001:db7:ffff::1", true),
        ("2001:db8:ffff::1", false), ("2001:db9::1", true), ("2001:ffff::1", true), ("2002:ffff::1", false),
        ("2003::1", true), ("3ffe:ffff::1", true), ("3fff:fff:ffff::1", false), ("3fff:1000::1", true),
        ("4000::1", false), ("64:ff9b::7f00:1", false), ("64:ff9b::1:808:808", false),
        ("64:ff9b:1::808:808", false),
    ])
    func `a webhook may connect up to each boundary of the special ranges of addresses`(
        text: String, isPublic: Bool
    ) throws {
        #expect(PublicAddress.contains(try SocketAddress(ipAddress: text, port: 443)) == isPublic)
    }
}
