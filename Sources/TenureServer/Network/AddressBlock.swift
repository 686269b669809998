/// A network of addresses, as `10.0.0.0/8`, or one address.
public struct AddressBlock: Sendable, Hashable {
    private let base: NetworkAddress
    private let length: Int

    /// nil where it is none, or names bits beyond its length: `10.0.0.1/8` is most likely a mistake.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let base = NetworkAddress(String(parts[0])) else { return nil }
        let longest = base.isIPv4 ? 32 : 128
        if parts.count == 2 {
            guard parts[1].allSatisfy(\.isASCII), let length = Int(parts[1]), (0...longest).contains(length),
                base.prefix(length) == base
            else { return nil }
            self.length = length
        } else {
            length = longest
        }
        self.base = base
    }

    public func contains(_ address: NetworkAddress) -> Bool {
        address.isIPv4 == base.isIPv4 && address.prefix(length) == base
    }
}

extension AddressBlock: CustomStringConvertible {
    public var description: String { "\(base)/\(length)" }
}
