import Foundation
import NIOCore
import NIOSSL
import Testing

@testable import TenureServer

/// The delivery of one message over the network, to receivers that misbehave.
@Suite struct `sending a webhook` {
    private func send(
        to url: String, allowsPrivate: Bool = true, addresses: [String]? = nil, port: Int = 0,
        roots: NIOSSLTrustRoots? = nil, body: String = "{}", timeout: TimeAmount = .seconds(60), attempt: Int = 1
    ) async throws -> WebhookSender.Answer {
        let resolver = addresses.map { addresses in
            HostResolver { _, port in try addresses.map { try SocketAddress(ipAddress: $0, port: port) } }
        }
        var sender = try WebhookSender(resolver: resolver ?? .system, trustRoots: roots)
        sender.timeouts.answer = timeout
        return await sender.send(
            Array(body.utf8), headers: [("Tenure-Event-ID", "evt_1")],
            to: try WebhookTarget(url, allowsPrivate: allowsPrivate), attempt: attempt)
    }

    @Test func `a webhook request is a POST of the message to the path of the URL`() async throws {
        let receiver = try await Receiver()
        let answer = try await send(to: "http://127.0.0.1:\(receiver.port)/a/b?c=d", body: #"{"id":"ü"}"#)
        #expect(answer == .status(200, retryAfter: nil))
        let request = try #require(receiver.received.first)
        #expect(request.line == "POST /a/b?c=d HTTP/1.1")
        #expect(request.headers["host"] == "127.0.0.1:\(receiver.port)")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["user-agent"] == "Tenure")
        #expect(request.headers["tenure-event-id"] == "evt_1")
        #expect(request.body == Array(#"{"id":"ü"}"#.utf8))
        try await receiver.close()
    }

    @Test func `a webhook request doesn't follow a redirect`() async throws {
        let other = try await Receiver()
        let receiver = try await Receiver { _, _ in .status(307, "Location: http://127.0.0.1:\(other.port)/") }
        #expect(try await send(to: "http://127.0.0.1:\(receiver.port)/") == .status(307, retryAfter: nil))
        #expect(other.received.isEmpty)
        try await receiver.close()
        try await other.close()
    }

    @Test func `each failure to send a webhook has a separate error message`() async throws {
        let cases: [(Receiver.Answer, String)] = [
            (.silence, "the endpoint didn't respond in time"),
            (.hangUp, "the endpoint closed the connection without a response"),
            (.text("SSH-2.0-secret\r\n\r\n"), "the endpoint's response isn't HTTP"),
            (
                .text("HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 200_000)),
                "the endpoint's response isn't HTTP"
            ),
        ]
        for (answer, words) in cases {
            let receiver = try await Receiver { _, _ in answer }
            // Only with a silent receiver does the sender wait until the timeout.
            let timeout: TimeAmount = if case .silence = answer { .milliseconds(300) } else { .seconds(60) }
            let result = try await send(to: "http://127.0.0.1:\(receiver.port)/", timeout: timeout)
            #expect(result == .noResponse(words))
            try await receiver.close()
            #expect(
                try await send(to: "http://127.0.0.1:\(receiver.port)/")
                    == .noResponse("the endpoint refused the connection")
            )
        }
    }

    @Test func `only the head of an endless response to a webhook is read`() async throws {
        let receiver = try await Receiver { _, _ in .endless }
        #expect(try await send(to: "http://127.0.0.1:\(receiver.port)/") == .status(200, retryAfter: nil))
        try await receiver.close()
    }

    @Test func `a webhook connects to the IP address that was checked, with the URL's host name`() async throws {
        let certificate = try HostCertificate(for: "hooks.example.com")
        let receiver = try await Receiver(tls: certificate.context)
        let answer = try await send(
            to: "https://hooks.example.com:\(receiver.port)/", addresses: ["127.0.0.1"], roots: certificate.roots)
        #expect(answer == .status(200, retryAfter: nil))
        #expect(receiver.received.first?.headers["host"] == "hooks.example.com:\(receiver.port)")
        try await receiver.close()
    }

    @Test func `each attempt to send a webhook uses the next address of the host`() async throws {
        let certificate = try HostCertificate(for: "hooks.example.com")
        let receiver = try await Receiver(tls: certificate.context)
        // The first address refuses connections.
        let addresses = ["127.0.0.77", "127.0.0.1"]
        var answers: [WebhookSender.Answer] = []
        for attempt in 1...3 {
            answers.append(
                try await send(
                    to: "https://hooks.example.com:\(receiver.port)/", addresses: addresses, roots: certificate.roots,
                    attempt: attempt))
        }
        let refused = WebhookSender.Answer.noResponse("the endpoint refused the connection")
        #expect(answers == [refused, .status(200, retryAfter: nil), refused])
        try await receiver.close()
    }

    @Test func `a webhook endpoint with an untrusted certificate, or another host's certificate, gets no data`()
        async throws
    {
        let certificate = try HostCertificate(for: "other.example.com")
        let receiver = try await Receiver(tls: certificate.context)
        let url = "https://hooks.example.com:\(receiver.port)/"
        #expect(
            try await send(to: url, addresses: ["127.0.0.1"], roots: certificate.roots)
                == .noResponse("the endpoint's certificate names another host"))
        #expect(
            try await send(to: url, addresses: ["127.0.0.1"])
                == .noResponse("the endpoint's certificate isn't trusted, or the endpoint doesn't support TLS 1.2"))
        #expect(receiver.received.isEmpty)
        try await receiver.close()
    }

    @Test func `webhooks never connect to a private address, for any host name and in any notation`() async throws {
        let receiver = try await Receiver()
        for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "127.1", "0"] {
            let answer = try await send(to: "https://\(host):\(receiver.port)/", allowsPrivate: false)
            guard case .noResponse(let words) = answer else {
                Issue.record("\(host): \(answer)")
                continue
            }
            #expect(words.contains("isn't public"), "\(host): \(words)")
        }
        // A name with both public and private addresses is refused, because DNS rebinding uses such names.
        let answer = try await send(
            to: "https://hooks.example.com:\(receiver.port)/", allowsPrivate: false,
            addresses: ["93.184.216.34", "10.0.0.7"])
        #expect(
            answer
                == .noResponse(
                    "`hooks.example.com` has the address 10.0.0.7, which isn't public; set `allowPrivate: true` to allow it"
                ))
        #expect(receiver.received.isEmpty)
        try await receiver.close()
    }

    @Test(arguments: [[], ["not an address"]])
    func `a webhook to a host without an address isn't sent`(addresses: [String]) async throws {
        let answer = try await send(to: "https://hooks.example.com/", addresses: addresses)
        #expect(answer == .noResponse("the host `hooks.example.com` has no address"))
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `the host of a webhook is resolved to its addresses, with the port of the URL`(host: String) async throws {
        let addresses = try await HostResolver.system.addresses(host, 8443)
        #expect(addresses.map(\.ipAddress) == [host])
        #expect(addresses.map(\.port) == [8443])
    }

    @Test func `webhooks without TLS connect only to loopback`() async throws {
        let answer = try await send(to: "http://hooks.example.com/", addresses: ["93.184.216.34"])
        #expect(answer == .noResponse("`hooks.example.com` isn't loopback, and the URL has no TLS; use https"))
        // With several addresses, all of them must be loopback.
        let mixed = try await send(to: "http://hooks.example.com/", addresses: ["127.0.0.1", "93.184.216.34"])
        #expect(mixed == answer)
    }

    @Test(arguments: [
        ("1.1.1.1", true), ("100.63.255.255", true), ("172.32.0.1", true), ("2606:4700::1111", true),
        ("64:ff9b::808:808", true), ("223.255.255.255", true),
        ("0.0.0.0", false), ("10.1.2.3", false), ("100.64.0.1", false), ("100.127.255.255", false),
        ("127.0.0.1", false), ("169.254.169.254", false), ("172.16.0.1", false), ("172.31.255.255", false),
        ("192.0.0.8", false), ("192.0.2.1", false), ("192.168.0.1", false), ("198.19.0.1", false),
        ("203.0.113.9", false), ("224.0.0.1", false), ("255.255.255.255", false),
        ("::", false), ("::1", false), ("::ffff:8.8.8.8", false), ("::8.8.8.8", false), ("64:ff9b::a00:1", false),
        ("fe80::1", false), ("fc00::1", false), ("fd12::1", false), ("ff02::1", false), ("2001:db8::1", false),
        ("2001::1", false), ("2002:a00:1::", false), ("3fff::1", false), ("100::1", false),
    ])
    func `an IP address is recognized as public or private`(text: String, isPublic: Bool) throws {
        let address = try SocketAddress(ipAddress: text, port: 443)
        #expect(PublicAddress.contains(address) == isPublic)
    }
}
