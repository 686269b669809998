package import Foundation

/// Finds changed entitlements, so that webhooks report them. Also claims deliveries of webhook messages, and removes
/// messages and endpoints. A service calls these methods regularly.
extension Store {
    /// Compares the entitlements of customers with what webhooks last reported, if the comparison is due by the column
    /// `next_comparison`. One transaction compares several customers.
    ///
    /// - Parameters:
    ///   - publication: the ID of the publication with the policy that `evaluate` uses; nil accepts every publication.
    ///   - evaluate: returns what webhooks report. If it returns nil, the customer is compared again a minute later.
    /// - Returns: how many customers were due; 0 if `publication` isn't in effect anymore.
    package func compareDueCustomers(
        at now: Date, limit: Int, under publication: Int64? = nil,
        _ evaluate: @escaping @Sendable (Customer) -> EntitlementChange?
    ) async throws(StoreError) -> Int {
        let due = try await read(at: now) { try $0.customersDue(limit: limit) }
        for customers in due.pieces {
            guard try await compare(customers, at: now, under: publication, evaluate) else { return 0 }
        }
        return due.count
    }

    /// Continues the comparison of all customers with what webhooks last reported. A new policy, or a new value of the
    /// setting `expiringDays`, has started this comparison. Returns true if there may be more customers to compare, and
    /// false if the comparison is complete, wasn't started, or must wait until a publication is finished.
    package func compareAllCustomers(
        at now: Date, limit: Int, under publication: Int64? = nil,
        _ evaluate: @escaping @Sendable (Customer) -> EntitlementChange?
    ) async throws(StoreError) -> Bool {
        let next = try await read(at: now) { transaction -> (position: Int64, customers: [SizedCustomer])? in
            // Waits for the publication, which changes customers until it has ended and restored all promises
            // (`StoredPromise`).
            guard let position = try transaction.comparisonPosition(), try transaction.unfinishedPublication() == nil
            else { return nil }
            return (position, try transaction.customersToCompare(after: position, limit: limit))
        }
        guard let next else { return false }
        var position = next.position
        // The last piece has no customers, and ends the comparison of all customers.
        for customers in next.customers.isEmpty ? [[]] : next.customers.pieces {
            let positions = (before: position, after: customers.last?.id)
            guard try await compare(customers, at: now, under: publication, continuing: positions, evaluate)
            else { return true }
            position = customers.last?.id ?? position
        }
        return !next.customers.isEmpty
    }

    /// Compares the customers of one piece, and stores the results. Returns false if another publication is active, or
    /// if the comparison of all customers doesn't continue with this piece; otherwise true.
    ///
    /// - Parameter positions: how far the comparison of all customers has come; nil if the piece isn't part of it.
    ///   `before` is the row ID of the last customer in the previous piece. `after` is the row ID of the last customer
    ///   in this piece; nil if this piece ends the comparison.
    private func compare(
        _ customers: [SizedCustomer], at now: Date, under publication: Int64?,
        continuing positions: (before: Int64, after: Int64?)? = nil,
        _ evaluate: @escaping @Sendable (Customer) -> EntitlementChange?
    ) async throws(StoreError) -> Bool {
        try await retrying { () throws(StoreError) -> Attempt<Bool> in
            // A customer with very many facts is alone in a piece. Such a customer is evaluated before the transaction
            // begins, so that other writers don't have to wait.
            var prepared: (customer: Customer, facts: EncodedFacts, change: EntitlementChange?)?
            if let only = customers.first, customers.count == 1,
                only.size > DatabaseTransaction.maximumFactsBytesPerTransaction,
                let customer = try await read(at: now, { try $0.customer(only.id) }), customer.id == only.id
            {
                prepared = (customer, EncodedFacts(customer.facts), evaluate(customer))
            }
            return try await writePiece(at: now, locking: [.endpoints]) { [prepared] transaction in
                var transaction = transaction
                if let publication, try transaction.publication()?.id != publication { return .done(false) }
                // The comparison of all customers may have started again, or another process may have compared these
                // customers.
                if let positions, try transaction.comparisonPosition() != positions.before { return .done(false) }
                if let prepared {
                    transaction.knownFacts = [prepared.customer.id: prepared.facts]
                    guard try transaction.customer(prepared.customer.id, forUpdate: true) == prepared.customer
                    else { return .unfinished }
                    try transaction.compareEntitlements(of: prepared.customer.id, isBulk: positions != nil) { _ in
                        prepared.change
                    }
                } else {
                    for customer in customers {
                        try transaction.compareEntitlements(of: customer.id, isBulk: positions != nil, evaluate)
                    }
                }
                if let positions { try transaction.setComparisonPosition(positions.after) }
                return .done(true)
            }
        }
    }

    // MARK: Deliveries and endpoints

    // These operations read before they write: usually there is nothing to do, and even a write without changes waits
    // for other writers.

    /// Removes webhook endpoints that no process serves anymore, and abandons the messages that wait for removed
    /// endpoints. Returns the removed endpoints.
    ///
    /// - Parameter silent: the endpoints to remove, as the caller read them. An endpoint with another heartbeat
    ///   (`NamedEndpoint.heartbeat`) is kept: a process serves it again.
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
