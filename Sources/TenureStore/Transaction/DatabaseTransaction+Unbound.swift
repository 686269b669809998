import Foundation
import TenureCore

extension DatabaseTransaction {
    /// Of one acquisition and one way to lead with it: far more than honest devices that cannot prove that it is theirs.
    /// Lists that a client can send are unlimited, and each one creates an unbound customer.
    static let mostUnbound = 20

    /// Whether they are the record of somebody who did not prove that what they showed is theirs.
    func isUnbound(_ id: Int64) throws(StoreError) -> Bool {
        try session.row(
            "SELECT 1 FROM identities WHERE customer = $1 AND kind = $2 LIMIT 1",
            [.integer(id), SQLValue(Identity.Kind.unbound.rawValue)]) != nil
    }

    /// The oldest unbound that makes room for this one; nil where there is room, or it is there already.
    func oldestUnbound(of unbound: Identity, in realm: Realm) throws(StoreError) -> Int64? {
        guard try member(by: unbound, in: realm) == nil else { return nil }
        let unboundCustomers = try unboundCustomers(of: unbound.shown, in: realm)
        return unboundCustomers.count < Self.mostUnbound ? nil : unboundCustomers.first
    }

    /// So many links are written by one piece.
    static let linksPerPiece = 64

    func createUnbound(_ unbound: Identity, in realm: Realm) throws(StoreError) -> Int64 {
        var facts = CustomerFacts()
        facts.isUnbound = true
        let record = try create(facts, in: realm, .never)
        try insert(unbound, of: record)
        return record.id
    }

    /// Returns the members that exist. They are locked, so that none is erased before a link is written.
    func lockExisting(_ members: some Collection<Int64>) throws(StoreError) -> [Int64] {
        try rows(
            """
            SELECT id FROM customers
            WHERE id IN \(DatabaseTable.batchPlaces) AND (merged_into IS NULL OR merged_into <> id)
            ORDER BY id\(session.dialect.forUpdate)
            """, about: members.sorted()
        ).map { row throws(StoreError) in try row.integer(0) }
    }

    /// Keeps the links of an unbound record to these members, some of those whom its artifacts name, and ends no other.
    func link(_ record: Int64, to members: some Collection<Int64>) throws(StoreError) {
        for member in try lockExisting(members) {
            try session.execute(
                "INSERT INTO unbound_links (unbound, customer) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                [.integer(record), .integer(member)])
        }
    }

    func unlink(_ record: Int64, from members: some Collection<Int64>) throws(StoreError) {
        for member in members {
            try session.execute(
                "DELETE FROM unbound_links WHERE unbound = $1 AND customer = $2", [.integer(record), .integer(member)])
        }
    }

    /// The members whom the artifacts of an unbound record name, by number.
    func links(of unbound: Int64) throws(StoreError) -> [Int64] {
        try session.rows("SELECT customer FROM unbound_links WHERE unbound = $1 ORDER BY customer", [.integer(unbound)])
            .map { row throws(StoreError) in try row.integer(0) }
    }

    /// The customers whom the artifacts of an unbound record name.
    package func customers(namedBy unbound: Int64) throws(StoreError) -> [Customer] {
        // Many members may be one customer, who is read once.
        var customers: [Customer] = []
        for id in Set(try roots(of: Set(try links(of: unbound))).values).sorted() {
            if let customer = try customer(id) { customers.append(customer) }
        }
        return customers
    }

    /// The unbound records of artifacts that name this customer, by number.
    func unboundCustomers(of id: Int64) throws(StoreError) -> [Int64] { try unboundCustomers(of: try group(of: id)) }

    func unboundCustomers(of members: [Int64]) throws(StoreError) -> [Int64] {
        let rows = try rows(
            """
            SELECT unbound FROM unbound_links WHERE customer IN \(DatabaseTable.batchPlaces) AND NOT EXISTS (
                SELECT 1 FROM customers WHERE id = unbound AND merged_into = id
            )
            """, about: members)
        return Set(try rows.map { row throws(StoreError) in try row.integer(0) }).sorted()
    }

    /// By number, which is by age.
    private func unboundCustomers(of shown: Substring, in realm: Realm) throws(StoreError) -> [Int64] {
        try session.rows(
            // By the index: after a blank comes an exclamation mark.
            """
            SELECT customer FROM identities WHERE realm = $1 AND kind = $2 AND value >= $3 AND value < $4
            ORDER BY customer
            """,
            [
                SQLValue(realm.code), SQLValue(Identity.Kind.unbound.rawValue), .text(shown + " "), .text(shown + "!"),
            ]
        ).map { row throws(StoreError) in try row.integer(0) }
    }
}
