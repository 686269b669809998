import TenureCore

/// Unbound customers: artifacts without proof that they belong to the sender, linked to the members (rows of
/// `customers`) whom they name.
extension DatabaseTransaction {
    /// The maximum number of unbound customers with the same kind of leading artifact (`Identity.Lead`) and the same
    /// named identity. Honest devices need far fewer. Each different list of artifacts creates an unbound customer, and
    /// a client can send any number of lists.
    static let maximumUnbound = 20

    /// Whether the customer is unbound: artifacts without proof that they belong to the sender.
    func isUnbound(_ id: Int64) throws(StoreError) -> Bool {
        try session.row(
            "SELECT 1 FROM identities WHERE customer = $1 AND kind = $2 LIMIT 1",
            [.integer(id), SQLValue(Identity.Kind.unbound.rawValue)]) != nil
    }

    /// The row ID of the unbound customer that must be removed to make room for `unbound`: the oldest unbound customer
    /// with the same `Identity.valuePrefix`. Nil if there is room, or if `unbound` exists already.
    func oldestUnbound(of unbound: Identity, in realm: Realm) throws(StoreError) -> Int64? {
        guard try member(by: unbound, in: realm) == nil else { return nil }
        let unboundCustomers = try session.integers(
            // The values that begin with the prefix and a space. In ASCII, `!` comes directly after the space.
            """
            SELECT customer FROM identities WHERE realm = $1 AND kind = $2 AND value >= $3 AND value < $4
            ORDER BY customer
            """,
            [
                SQLValue(realm.code), SQLValue(Identity.Kind.unbound.rawValue), .text(unbound.valuePrefix + " "),
                .text(unbound.valuePrefix + "!"),
            ])
        return unboundCustomers.count < Self.maximumUnbound ? nil : unboundCustomers.first
    }

    /// How many links one transaction writes.
    static let linksPerPiece = 64

    /// Creates an unbound customer with this identity, and returns its row ID.
    func createUnbound(_ unbound: Identity, in realm: Realm) throws(StoreError) -> Int64 {
        var facts = CustomerFacts()
        facts.isUnbound = true
        let customer = try create(facts, in: realm, .never)
        try insert([unbound], ofMember: customer.member, in: realm)
        return customer.id
    }

    /// Locks these members, so that none of them is erased before this transaction ends. Returns the members that exist
    /// and aren't being erased.
    func lockExisting(_ members: some Collection<Int64>) throws(StoreError) -> [Int64] {
        try integers(
            """
            SELECT id FROM customers WHERE id IN \(Self.batch) AND (merged_into IS NULL OR merged_into <> id)
            ORDER BY id\(session.dialect.forUpdate)
            """, about: members.sorted())
    }

    /// Links an unbound customer to members that its artifacts name. Keeps its other links.
    func link(_ unbound: Int64, to members: some Collection<Int64>) throws(StoreError) {
        for member in try lockExisting(members) {
            try session.execute(
                "INSERT INTO unbound_links (unbound, customer) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                [.integer(unbound), .integer(member)])
        }
    }

    /// Removes the links of an unbound customer to these members.
    func unlink(_ unbound: Int64, from members: some Collection<Int64>) throws(StoreError) {
        for member in members {
            try session.execute(
                "DELETE FROM unbound_links WHERE unbound = $1 AND customer = $2", [.integer(unbound), .integer(member)])
        }
    }

    /// The members that the artifacts of an unbound customer name, by row ID.
    func links(of unbound: Int64) throws(StoreError) -> [Int64] {
        try session.integers(
            "SELECT customer FROM unbound_links WHERE unbound = $1 ORDER BY customer", [.integer(unbound)])
    }

    /// Returns the customers that the artifacts of an unbound customer name. Empty if it is linked to no customer.
    ///
    /// A purchase in these artifacts may also belong to customers of other accounts, to whom the unbound customer isn't
    /// linked. These customers are returned with only the purchases and renewals that the artifacts name. Nothing else
    /// about their accounts concerns the artifacts, and a client can share a purchase with any number of accounts.
    package func customers(namedBy unbound: Customer) throws(StoreError) -> [Customer] {
        let links = try links(of: unbound.id)
        guard !links.isEmpty else { return [] }
        let purchases = Set(unbound.facts.purchases.map(\.originalTransactionID))
        let transactions = Set(unbound.facts.purchases.map(\.transactionID))
        let holders = try members(sharingAnyOf: Array(purchases), in: unbound.realm)
        // Several members may be one customer, which is read once.
        let linked = Set(try survivors(of: Set(links)).values)
        var customers: [Customer] = []
        for id in linked.union(try survivors(of: Set(holders)).values).sorted() {
            guard let customer = try customer(id) else { continue }
            var facts = customer.facts
            if !linked.contains(id) {
                facts = CustomerFacts()
                facts.add(
                    customer.facts.purchases.filter {
                        purchases.contains($0.originalTransactionID) || transactions.contains($0.transactionID)
                    })
                facts.add(customer.facts.renewals.filter { purchases.contains($0.originalTransactionID) })
            }
            customers.append(customer.replacingFacts(with: facts))
        }
        return customers
    }

    /// The unbound customers with artifacts that name this customer, by row ID.
    func unboundCustomers(of id: Int64) throws(StoreError) -> [Int64] { try unboundCustomers(of: try group(of: id)) }

    /// The unbound customers with artifacts that name one of these members, without erased customers.
    func unboundCustomers(of members: [Int64]) throws(StoreError) -> [Int64] {
        let customers = try integers(
            """
            SELECT unbound FROM unbound_links WHERE customer IN \(Self.batch)
            AND NOT EXISTS (SELECT 1 FROM customers WHERE id = unbound AND merged_into = id)
            """, about: members)
        return Set(customers).sorted()
    }
}
