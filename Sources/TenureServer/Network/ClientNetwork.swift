/// Addresses that count as one client: an IPv4 address, or the /64 of an IPv6 address. A provider gives a customer up to a
/// /48, which counts as well.
struct ClientNetwork: Hashable {
    private let base: NetworkAddress
    private let length: Int

    static func all(of address: NetworkAddress) -> [ClientNetwork] {
        (address.isIPv4 ? [32] : [64, 48]).map { ClientNetwork(base: address.prefix($0), length: $0) }
    }

    /// A /48 may have four times as much as a /64.
    func share(of limit: Int) -> Int { length == 48 ? 4 * limit : limit }
}
