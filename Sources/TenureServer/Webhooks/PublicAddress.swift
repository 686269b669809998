import NIOCore

/// Distinguishes public addresses from all others, such as the address of a router, a database or a cloud's metadata
/// service. The service sends a webhook to other addresses only if it has `allowPrivate`.
///
/// The ranges are from IANA's registries of special-purpose addresses (RFC 6890 and its updates).
enum PublicAddress {
    /// Whether the address is public.
    static func contains(_ address: SocketAddress) -> Bool {
        switch address {
        case .v4: isPublic(bytes(of: address, 4..<8))
        case .v6: isPublicIPv6(bytes(of: address, 8..<24))
        case .unixDomainSocket: false
        }
    }

    /// Whether the address is on this machine only.
    static func isLoopback(_ address: SocketAddress) -> Bool {
        switch address {
        case .v4: bytes(of: address, 4..<8).first == 127
        case .v6: bytes(of: address, 8..<24) == [UInt8](repeating: 0, count: 15) + [1]
        case .unixDomainSocket: false
        }
    }

    /// The bytes at `range` of the socket address: the address itself, in network order. In `sockaddr_in` it follows
    /// the family and the port, and in `sockaddr_in6` also the flow, on Linux and Darwin alike.
    ///
    /// The address isn't read as a member of these structures. Depending on what the compiler loads first, it
    /// attributes the structures to another module, and `MemberImportVisibility` then hides their members.
    private static func bytes(of address: SocketAddress, _ range: Range<Int>) -> [UInt8] {
        address.withSockAddr { pointer, size in
            let bytes = UnsafeRawBufferPointer(start: pointer, count: size)
            return range.upperBound <= size ? Array(bytes[range]) : []
        }
    }

    private static func isPublic(_ bytes: [UInt8]) -> Bool {
        !specialIPv4.contains { isAddress(bytes, in: $0) }
    }

    /// Whether this is an allocated unicast address (2000::/3) without a special purpose, or a public IPv4 address
    /// behind NAT64. Other addresses that contain an IPv4 address, such as those of 6to4, aren't accepted.
    private static func isPublicIPv6(_ bytes: [UInt8]) -> Bool {
        // NAT64: packets go to the IPv4 address in the last four bytes.
        if isAddress(bytes, in: ([0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0], 96)) {
            return isPublic(Array(bytes.suffix(4)))
        }
        return isAddress(bytes, in: ([0x20], 3)) && !specialIPv6.contains { isAddress(bytes, in: $0) }
    }

    /// A range of addresses: those with the same first `length` bits as `base`.
    private typealias Block = (base: [UInt8], length: Int)

    /// The ranges of IPv4 that aren't public.
    private static let specialIPv4: [Block] = [
        ([0], 8),  // this network
        ([10], 8), ([172, 16], 12), ([192, 168], 16),  // private
        ([100, 64], 10),  // carriers' NAT
        ([127], 8),  // loopback
        ([169, 254], 16),  // link-local, and clouds' metadata
        ([192, 0, 0], 24), ([192, 0, 2], 24), ([198, 51, 100], 24), ([203, 0, 113], 24),  // protocols, documentation
        ([192, 88, 99], 24),  // 6to4 relays
        ([198, 18], 15),  // benchmarks
        ([224], 4), ([240], 4),  // multicast, reserved, broadcast
    ]

    /// The ranges in 2000::/3 that aren't public.
    private static let specialIPv6: [Block] = [
        ([0x20, 0x01, 0x00], 23),  // protocols: Teredo, ORCHID
        ([0x20, 0x01, 0x0D, 0xB8], 32), ([0x3F, 0xFF, 0x00], 20),  // documentation
        ([0x20, 0x02], 16),  // 6to4
    ]

    /// Whether the address is in the range.
    private static func isAddress(_ address: [UInt8], in block: Block) -> Bool {
        for bit in 0..<block.length {
            let mask = UInt8(0x80) >> UInt8(bit % 8)
            let base = bit / 8 < block.base.count ? block.base[bit / 8] : 0
            guard bit / 8 < address.count, address[bit / 8] & mask == base & mask else { return false }
        }
        return true
    }
}
