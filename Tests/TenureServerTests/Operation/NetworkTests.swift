import Foundation
import HTTPTypes
import Testing

@testable import TenureServer

@Suite struct `IP addresses and networks` {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("::1", "::1"), ("2001:DB8::1", "2001:db8::1"), ("::ffff:192.0.2.1", "192.0.2.1"),
    ])
    func `an IP address is parsed and written in its canonical form`(text: String, canonical: String) {
        #expect(NetworkAddress(text)?.description == canonical)
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "localhost", "::g", "1.2.3.4:80", " 1.2.3.4", "fe80::1%eth0",
    ])
    func `IP addresses that aren't valid are refused`(text: String) { #expect(NetworkAddress(text) == nil) }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("192.0.2.1", "192.0.2.1", true),
        ("192.0.2.1", "192.0.2.2", false), ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "2001:db8::1", false),
        ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false), ("::/0", "::1", true),
        ("2001:db8:0:1::/64", "2001:db8:0:1:ffff::", true), ("2001:db8:0:1::/64", "2001:db8:0:2::", false),
        ("10.0.0.0/8", "::ffff:10.1.1.1", true),
    ])
    func `an IP network contains exactly the addresses with its prefix`(
        network: String, address: String, contains: Bool
    ) throws {
        let block = try #require(AddressBlock(network))
        #expect(block.contains(try #require(NetworkAddress(address))) == contains)
    }

    @Test(arguments: ["10.0.0.1/8", "10.0.0.0/33", "::/129", "10.0.0.0/", "/8", "10.0.0.0/-1", "true", "10.0.0.0/8/8"])
    func `invalid IP networks are refused`(text: String) { #expect(AddressBlock(text) == nil) }

    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0/8"), ("192.0.2.1", "192.0.2.1/32"), ("2001:DB8::", "2001:db8::/128"), ("::/0", "::/0"),
    ])
    func `an IP network is written with the length of its prefix`(network: String, description: String) throws {
        #expect(try #require(AddressBlock(network)).description == description)
    }
}

@Suite struct `the client's address` {
    private static let proxies = ["10.0.0.0/8", "127.0.0.1", "2001:db8:aaaa::/48"].compactMap(AddressBlock.init)

    private func peer(_ socket: String, _ forwarded: String..., proxies: [AddressBlock] = proxies) throws -> Peer {
        let field = try #require(HTTPField.Name("X-Forwarded-For"))
        var headers = HTTPFields()
        for value in forwarded { headers.append(HTTPField(name: field, value: value)) }
        return Peer(socket: NetworkAddress(socket) as NetworkAddress?, headers: headers, proxies: proxies)
    }

    @Test func `without a declared proxy, the client's address is the socket's address, not the header's`() throws {
        let peer = try peer("203.0.113.5", "10.0.0.1, 198.51.100.7")
        #expect(peer.address == NetworkAddress("203.0.113.5"))
        #expect(!peer.isBehindProxy && !peer.isLocal)
    }

    @Test func `behind proxies, the client's address is the last address in X-Forwarded-For that isn't a proxy's`()
        throws
    {
        #expect(try peer("10.0.0.9", "198.51.100.7").address == NetworkAddress("198.51.100.7"))
        #expect(try peer("10.0.0.9", "6.6.6.6, 198.51.100.7, 10.1.1.1").address == NetworkAddress("198.51.100.7"))
        #expect(try peer("10.0.0.9", "6.6.6.6", "198.51.100.7").address == NetworkAddress("198.51.100.7"))
        #expect(try peer("10.0.0.9", "198.51.100.7:4711").address == NetworkAddress("198.51.100.7"))
        #expect(try peer("10.0.0.9", "[2001:db8::7]:4711").address == NetworkAddress("2001:db8::7"))
        #expect(try peer("10.0.0.9", "2001:db8::7").address == NetworkAddress("2001:db8::7"))
        #expect(try peer("10.0.0.9", "[2001:db8::7]").address == NetworkAddress("2001:db8::7"))
        #expect(try peer("10.0.0.9", "6.6.6.6,\t198.51.100.7\t,10.1.1.1").address == NetworkAddress("198.51.100.7"))
        let behind = try peer("2001:db8:aaaa::1", "127.0.0.1")
        #expect(behind.isBehindProxy && !behind.isLocal)
    }

    @Test
    func `without a valid client address in X-Forwarded-For, the client's address is that of the farthest proxy`()
        throws
    {
        #expect(try peer("10.0.0.9").address == NetworkAddress("10.0.0.9"))
        #expect(try peer("10.0.0.9", "198.51.100.7, unknown").address == NetworkAddress("10.0.0.9"))
        #expect(try peer("10.0.0.9", "198.51.100.7, unknown, 10.2.2.2").address == NetworkAddress("10.2.2.2"))
        #expect(try peer("10.0.0.9", ",").address == NetworkAddress("10.0.0.9"))
        #expect(try peer("10.0.0.9", "10.1.1.1").address == NetworkAddress("10.1.1.1"))
    }

    @Test func `a client is local only on loopback, without a declared proxy and without X-Forwarded-For`() throws {
        #expect(try peer("127.0.0.1", proxies: []).isLocal)
        #expect(try peer("::1", proxies: []).isLocal)
        #expect(try !peer("127.0.0.1", "127.0.0.1", proxies: []).isLocal)
        #expect(try !peer("127.0.0.1").isLocal)
        #expect(try !peer("192.0.2.1", proxies: []).isLocal)
    }
}
