/// Addresses that count as one client: an IPv4 address, or the /64 of an IPv6 address. A provider gives a customer up to a
/// /48, which counts as well.
struct ClientNetwork: Hashable {
    private let base: NetworkAddress
    private let length: Int

    static func all(of address: NetworkAddress) -> [ClientNetwork] {
        (address.isIPv4 ? [32] : [64, 48]).map { ClientNetwork(base: address.prefix($0), length: $0) }
    }

    /// How many this network may have if one address may have `limit`: a /48 four times as many, but at most half of all.
    func share(of limit: Int, total: Int) -> Int { length == 48 ? min(4 * limit, max(1, total / 2)) : limit }
}
