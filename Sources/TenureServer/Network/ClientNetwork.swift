/// The addresses that share one limit of connections: an IPv4 address, or the /64 of an IPv6 address, because one
/// client has all addresses of a /64. An IPv6 address is also counted for its /48, because providers give customers up
/// to a /48.
struct ClientNetwork: Hashable {
    private let base: NetworkAddress
    private let length: Int

    /// The networks to which an address belongs, each with its own limit.
    static func all(of address: NetworkAddress) -> [ClientNetwork] {
        (address.isIPv4 ? [32] : [64, 48]).map { ClientNetwork(base: address.prefix($0), length: $0) }
    }

    /// Returns the limit of this network, if one address has the limit `limit`. A /48 has four times that limit, but at
    /// most half of `total`.
    func share(of limit: Int, total: Int) -> Int { length == 48 ? min(4 * limit, max(1, total / 2)) : limit }
}
