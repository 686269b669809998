/// A network of addresses with one limit of connections. It is a single IPv4 address, or the /64 of an IPv6 address,
/// because one client has all addresses of a /64. An IPv6 address also belongs to a /48 with a limit, because some
/// providers give a customer a /48.
struct ClientNetwork: Hashable {
    private let base: NetworkAddress
    private let length: Int

    /// Returns the networks to which an address belongs, each with its own limit.
    static func all(of address: NetworkAddress) -> [ClientNetwork] {
        (address.isIPv4 ? [32] : [64, 48]).map { ClientNetwork(base: address.prefix($0), length: $0) }
    }

    /// Returns the limit of this network: for a /48, four times `limit` but at most half of `total`, and otherwise
    /// `limit`. `total` is the limit for all clients together.
    func share(of limit: Int, total: Int) -> Int { length == 48 ? min(4 * limit, max(1, total / 2)) : limit }
}
