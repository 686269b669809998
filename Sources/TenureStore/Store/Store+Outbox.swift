package import Foundation

/// Claims deliveries of webhook messages, and removes messages and endpoints. These operations read before they write:
/// usually there is nothing to do, and even a write without changes waits for other writers.
extension Store {
    /// Removes webhook endpoints that no process serves anymore, and abandons the messages that wait for removed
    /// endpoints. Returns the removed endpoints. Keeps an endpoint if, since the caller read `silent`, a process has
    /// reported that it serves the endpoint (`NamedEndpoint.heartbeat`).
    package func removeEndpoints(_ silent: [NamedEndpoint], at now: Date) async throws(StoreError) -> [RemovedEndpoint]
    {
        let hasStrays = try await read { try $0.hasStrayDeliveries() }
        guard hasStrays || !silent.isEmpty else { return [] }
        return try await write(at: now, locking: [.endpoints]) { transaction in
            let removed = try transaction.removeEndpoints(silent)
            try transaction.abandonStrayDeliveries()
            return removed
        }
    }

    /// Takes deliveries of messages that are due for an endpoint. No other process takes them until `lease` has passed.
    ///
    /// Messages about one customer are taken one at a time, in the order of the messages. A message that has failed
    /// often doesn't delay later messages.
    ///
    /// - Parameter lease: the seconds after which another process may take a delivery again.
    package func claimDeliveries(
        to endpoint: String, at now: Date, limit: Int, lease: TimeInterval
    ) async throws(StoreError) -> [Delivery] {
        guard try await read(at: now, { try $0.isDeliveryDue(to: endpoint) }) else { return [] }
        return try await write(at: now, locking: [.deliveries(endpoint: endpoint)]) {
            try $0.claimDeliveries(to: endpoint, limit: limit, lease: lease)
        }
    }

    /// Removes at most `limit` messages that were created before an instant and wait for no delivery. Returns how many.
    package func pruneMessages(before: Date, limit: Int) async throws(StoreError) -> Int {
        guard try await read({ try $0.hasMessages(before: before) }) else { return 0 }
        return try await write { try $0.pruneMessages(before: before, limit: limit) }
    }
}
