import NIOCore

/// Distinguishes public addresses from all other addresses, such as the address of a router, a database or a cloud's
/// metadata service. The service sends a webhook to an address that isn't public only if the webhook's configuration
/// has `allowPrivate: true`.
///
/// The ranges are from IANA's registries of special-purpose addresses (RFC 6890 and its updates).
enum PublicAddress {
    /// Whether the address of a socket is public.
    static func contains(_ socket: SocketAddress) -> Bool {
        guard let address = NetworkAddress(socket) else { return false }
        // `NetworkAddress` reads `::ffff:192.0.2.1` as the IPv4 address, but no server needs this notation.
        if case .v6 = socket, address.isIPv4 { return false }
        return isPublic(address)
    }

    /// Whether this is an IPv4 address without a special purpose, an allocated unicast address of IPv6 without a
    /// special purpose, or a public IPv4 address behind NAT64. Other addresses that contain an IPv4 address, such as
    /// those of 6to4, aren't accepted.
    private static func isPublic(_ address: NetworkAddress) -> Bool {
        // NAT64: packets go to the IPv4 address in the last four bytes.
        if isAddress(address, in: "64:ff9b::/96") {
            return isPublic(NetworkAddress(high: 0, low: address.low & 0xFFFF_FFFF, isIPv4: true))
        }
        // All ranges are valid, so the values after `??` are never used.
        let isSpecial = specialRanges.contains { AddressBlock($0)?.contains(address) ?? true }
        return (address.isIPv4 || isAddress(address, in: "2000::/3")) && !isSpecial
    }

    private static func isAddress(_ address: NetworkAddress, in range: String) -> Bool {
        AddressBlock(range)?.contains(address) ?? false
    }

    /// The ranges of IPv4, and of IPv6 in 2000::/3, that aren't public.
    private static let specialRanges = [
        "0.0.0.0/8",  // this network
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",  // private
        "100.64.0.0/10",  // carriers' NAT
        "127.0.0.0/8",  // loopback
        "169.254.0.0/16",  // link-local, and clouds' metadata
        "192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24",  // protocols, documentation
        "192.88.99.0/24",  // 6to4 relays
        "198.18.0.0/15",  // benchmarks
        "224.0.0.0/4", "240.0.0.0/4",  // multicast, reserved, broadcast
        "2001::/23",  // protocols: Teredo, ORCHID
        "2001:db8::/32", "3fff::/20",  // documentation
        "2002::/16",  // 6to4
    ]
}
