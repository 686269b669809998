/// A network of addresses such as `10.0.0.0/8`, or a single address: for example, the proxies in the configuration.
public struct AddressBlock: Sendable, Hashable {
    /// The network's first address.
    private let base: NetworkAddress
    /// The number of leading bits that all addresses of the network have in common.
    private let length: Int

    /// Parses a network or an address; nil for any other text. Also nil if bits after the prefix are set, because
    /// `10.0.0.1/8` is probably a mistake.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let base = NetworkAddress(String(parts[0])) else { return nil }
        let longest = base.isIPv4 ? 32 : 128
        self.base = base
        guard parts.count == 2 else {
            self.length = longest
            return
        }
        guard parts[1].allSatisfy(\.isASCII), let length = Int(parts[1]), (0...longest).contains(length),
            base.prefix(length) == base
        else { return nil }
        self.length = length
    }

    /// Whether the address belongs to the network. A network of IPv4 contains no IPv6 address, and the other way round.
    public func contains(_ address: NetworkAddress) -> Bool {
        address.isIPv4 == base.isIPv4 && address.prefix(length) == base
    }
}

extension AddressBlock: CustomStringConvertible {
    /// The network with its prefix length, such as `10.0.0.0/8`.
    public var description: String { "\(base)/\(length)" }
}
