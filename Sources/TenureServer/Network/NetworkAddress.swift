import Foundation
import NIOCore

/// An IPv4 or IPv6 address, without a port. An IPv4 address inside IPv6 (`::ffff:192.0.2.1`) is read as the IPv4
/// address.
public struct NetworkAddress: Sendable, Hashable {
    /// The first 64 bits of an IPv6 address; zero for IPv4.
    let high: UInt64
    /// The last 64 bits of an IPv6 address, or the 32 bits of an IPv4 address.
    let low: UInt64
    let isIPv4: Bool
}

extension NetworkAddress {
    /// Parses an address such as `192.0.2.1` or `2001:db8::1`; nil for any other text.
    public init?(_ text: String) {
        guard text.utf8.count <= 45 else { return nil }
        var ipv4 = in_addr()
        if inet_pton(AF_INET, text, &ipv4) == 1 {
            self.init(ipv4: ipv4)
            return
        }
        var ipv6 = in6_addr()
        guard inet_pton(AF_INET6, text, &ipv6) == 1 else { return nil }
        self.init(ipv6: ipv6)
    }

    /// The address of a socket; nil for a socket without an IP address.
    init?(_ socket: SocketAddress?) {
        switch socket {
        case .v4(let address): self.init(ipv4: address.address.sin_addr)
        case .v6(let address): self.init(ipv6: address.address.sin6_addr)
        case .unixDomainSocket, nil: return nil
        }
    }

    private init(ipv4: in_addr) {
        high = 0
        low = UInt64(UInt32(bigEndian: ipv4.s_addr))
        isIPv4 = true
    }

    private init(ipv6: in6_addr) {
        let (high, low) = withUnsafeBytes(of: ipv6) { bytes in
            (bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }, bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
        }
        isIPv4 = high == 0 && low >> 32 == 0xFFFF
        self.high = high
        self.low = isIPv4 ? low & 0xFFFF_FFFF : low
    }

    /// Whether the address leads to this machine: `127.0.0.0/8` or `::1`.
    var isLoopback: Bool { isIPv4 ? low >> 24 == 127 : (high == 0 && low == 1) }

    /// The address by which clients are distinguished: for IPv6 the first address of the /64, because one client has
    /// all addresses of a /64.
    var ofClient: NetworkAddress { isIPv4 ? self : prefix(64) }

    /// The address with all bits after the first `length` set to zero.
    func prefix(_ length: Int) -> NetworkAddress {
        /// Keeps the first `kept` bits of 64, and sets the others to zero.
        func masked(_ bits: UInt64, _ kept: Int) -> UInt64 {
            // Swift's `<<` returns zero if it shifts by 64 or more.
            bits & (UInt64.max << (64 - max(0, min(kept, 64))))
        }
        // The 32 bits of an IPv4 address are the last of the 64 bits in `low`.
        return isIPv4
            ? NetworkAddress(high: 0, low: masked(low, 32 + length), isIPv4: true)
            : NetworkAddress(high: masked(high, length), low: masked(low, length - 64), isIPv4: false)
    }
}

extension NetworkAddress: CustomStringConvertible {
    /// The address in its usual notation, such as `192.0.2.1` or `2001:db8::1`.
    public var description: String {
        if isIPv4 {
            return stride(from: 24, through: 0, by: -8).map { String(low >> UInt64($0) & 255) }.joined(separator: ".")
        }
        var address = in6_addr()
        withUnsafeMutableBytes(of: &address) { bytes in
            bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &address, &text, socklen_t(text.count)) != nil else { return "?" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
