import TenureCore

/// Counts the requests in progress of each client behind a proxy. These clients share the proxy's connections, so the
/// service can't limit connections for each client.
final class RequestsInProgress: Sendable {
    private let counts = Locked<[ClientNetwork: Int]>([:])
    private let limit: Int
    private let total: Int

    /// - Parameters:
    ///   - limit: The maximum number of concurrent requests of one client. A number above a quarter of `total` is
    ///     reduced to that quarter, but not below 1.
    ///   - total: The maximum number of connections of the service.
    init(limit: Int, total: Int) {
        self.limit = max(1, min(limit, total / 4))
        self.total = total
    }

    /// Returns whether the client may have one more request. If so, the caller must call `end` later.
    func begin(for client: NetworkAddress) -> Bool {
        let networks = ClientNetwork.all(of: client)
        return counts.withLock { counts in
            guard networks.allSatisfy({ counts[$0, default: 0] < $0.share(of: limit, total: total) }) else {
                return false
            }
            for network in networks { counts[network, default: 0] += 1 }
            return true
        }
    }

    /// Counts the end of a request for which `begin` returned true.
    func end(for client: NetworkAddress) {
        counts.withLock { counts in
            for network in ClientNetwork.all(of: client) {
                guard let count = counts[network] else { continue }
                counts[network] = count > 1 ? count - 1 : nil
            }
        }
    }
}
