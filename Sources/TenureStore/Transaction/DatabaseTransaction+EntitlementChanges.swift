import Foundation

/// Compares the entitlements of customers with what webhooks last reported.
extension DatabaseTransaction {
    /// Registers webhook endpoints. If `comparisonKey` differs from the stored key, starts the comparison of all
    /// customers (`Store.compareAllCustomers`).
    ///
    /// - Parameter comparisonKey: a text that changes with the policy and with the settings that decide what webhooks
    ///   report.
    package func register(_ endpoints: [Endpoint], comparisonKey: String) throws(StoreError) {
        guard !endpoints.isEmpty else { return }
        for endpoint in endpoints { try insert(endpoint) }
        guard try storedValue(named: Self.comparisonKeyName) != comparisonKey else { return }
        try setStoredValue(named: Self.comparisonKeyName, to: comparisonKey)
        try setStoredValue(named: Self.positionName, to: "0")
    }

    /// Removes these endpoints, and abandons their waiting deliveries. An endpoint with another heartbeat than in
    /// `silent` is kept. Returns the removed endpoints. If no endpoint is left, customers aren't compared anymore.
    func removeEndpoints(_ silent: [NamedEndpoint]) throws(StoreError) -> [RemovedEndpoint] {
        var removed: [RemovedEndpoint] = []
        let registered = try endpoints()
        for endpoint in silent where registered.contains(endpoint) {
            removed.append(RemovedEndpoint(name: endpoint.name, waiting: try removeEndpoint(endpoint.name)))
        }
        if !registered.isEmpty, removed.count == registered.count {
            try setStoredValue(named: Self.comparisonKeyName, to: nil)
            try setStoredValue(named: Self.positionName, to: nil)
        }
        return removed
    }

    /// Returns customers with entitlements that may have changed by now.
    func customersDue(limit: Int) throws(StoreError) -> [SizedCustomer] {
        try session.rows(
            "SELECT id, length(facts) FROM customers WHERE next_comparison <= $1 ORDER BY next_comparison LIMIT $2",
            [milliseconds, SQLValue(limit)]
        ).map { row throws(StoreError) in try SizedCustomer(row) }
    }

    /// Starts the comparison of all customers again, if there are endpoints: another policy may change everyone's
    /// entitlements.
    func compareAllAgain() throws(StoreError) {
        if try storedValue(named: Self.comparisonKeyName) != nil {
            try setStoredValue(named: Self.positionName, to: "0")
        }
    }

    /// The row ID of the last compared customer; nil if all customers were compared.
    func comparisonPosition() throws(StoreError) -> Int64? {
        try storedValue(named: Self.positionName).map { Int64($0) ?? 0 }
    }

    /// Stores the row ID of the last compared customer; nil if all customers were compared.
    func setComparisonPosition(_ position: Int64?) throws(StoreError) {
        try setStoredValue(named: Self.positionName, to: position.map { String($0) })
    }

    /// Returns the next customers of a comparison of all customers.
    func customersToCompare(after position: Int64, limit: Int) throws(StoreError) -> [SizedCustomer] {
        // Webhooks get no messages about unbound customers.
        try session.rows(
            """
            SELECT id, length(facts) FROM customers WHERE id > $1 AND merged_into IS NULL AND \(Self.isNotUnbound)
            ORDER BY id LIMIT $2
            """, [.integer(position), SQLValue(limit)]
        ).map { row throws(StoreError) in try SizedCustomer(row) }
    }

    /// Returns each of these customers that still exists, with the size of its facts.
    func sizes(of ids: [Int64]) throws(StoreError) -> [SizedCustomer] {
        try rows("SELECT id, length(facts) FROM customers WHERE id IN \(Self.batch)", about: ids)
            .map { row throws(StoreError) in try SizedCustomer(row) }
    }

    /// Compares a customer's entitlements with what webhooks last reported, and queues messages for the changes.
    ///
    /// - Parameters:
    ///   - isBulk: whether the messages are sent after all other messages, because many customers are compared.
    ///   - evaluate: returns what webhooks report. If it returns nil, the customer is compared again a minute later.
    func compareEntitlements(
        of id: Int64, isBulk: Bool, _ evaluate: (Customer) -> EntitlementChange?
    ) throws(StoreError) {
        guard let customer = try customer(id, forUpdate: true) else { return }
        let next: SQLValue
        if customer.id != id {
            // This customer was merged into another customer, and the comparison of that customer includes this one.
            next = .null
        } else if let change = evaluate(customer) {
            guard change.sentEntitlements == customer.sentEntitlements else {
                let updated = try update(customer, to: customer.facts, change)
                for message in change.messages { try queue(message, about: updated, isBulk: isBulk) }
                return
            }
            // Nothing changed, except when to compare again.
            next = change.nextComparison(at: now)
        } else {
            next = SQLValue(now.addingTimeInterval(Self.postponement))
        }
        try session.execute("UPDATE customers SET next_comparison = $1 WHERE id = $2", [next, .integer(id)])
    }

    /// The seconds until a customer that couldn't be evaluated is compared again.
    private static let postponement: TimeInterval = 60

    // The names of the rows in the table `progress` about the comparison of all customers.
    private static let comparisonKeyName = "webhook comparison key"
    private static let positionName = "webhook comparison"
}

/// A customer's row ID, and the size of their facts.
struct SizedCustomer: Sendable {
    let id: Int64
    /// The size of the facts in bytes.
    let size: Int

    fileprivate init(_ row: SQLRow) throws(StoreError) {
        id = try row.integer(0)
        size = Int(clamping: try row.integer(1))
    }
}

extension [SizedCustomer] {
    /// The customers in pieces, in the same order. One transaction works on one piece.
    var pieces: [[SizedCustomer]] {
        var pieces: [[SizedCustomer]] = []
        var size = 0
        for customer in self {
            if let last = pieces.indices.last, pieces[last].count < Self.maximumInOnePiece,
                size + customer.size <= DatabaseTransaction.maximumFactsBytesPerTransaction
            {
                pieces[last].append(customer)
                size += customer.size
            } else {
                pieces.append([customer])
                size = customer.size
            }
        }
        return pieces
    }

    /// The maximum number of customers in one piece. With more customers, other writers would wait longer.
    private static var maximumInOnePiece: Int { 16 }
}
