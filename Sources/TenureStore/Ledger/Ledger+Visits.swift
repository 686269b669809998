import Foundation
import TenureCore

extension Ledger {
    /// Of one acquisition and one way to lead with it: far more than honest devices that cannot prove that it is theirs.
    /// The lists that can be shown are without number, and each is a visit of its own.
    static let mostVisits = 20

    /// Whether they are the record of somebody who did not prove that what they showed is theirs.
    func isVisit(_ id: Int64) throws(StoreError) -> Bool {
        try session.row(
            "SELECT 1 FROM identities WHERE customer = $1 AND kind = $2 LIMIT 1",
            [.integer(id), SQLValue(Identity.Kind.visit.rawValue)]) != nil
    }

    /// The oldest visit that makes room for this one; nil where there is room, or it is there already.
    func visitInTheWay(of visit: Identity, in realm: Realm) throws(StoreError) -> Int64? {
        guard try member(by: visit, in: realm) == nil else { return nil }
        let visits = try visits(of: visit.shown, in: realm)
        return visits.count < Self.mostVisits ? nil : visits.first
    }

    /// Removes a visit. What was written of it in pieces is removed in pieces, by `removeLeftover`; nobody finds it
    /// anymore.
    func removeVisit(_ id: Int64) throws(StoreError) {
        guard try member(.number(id)) != nil else { return }
        let pieces = try session.execute(
            """
            INSERT INTO unfinished_acts (customer, act, started_at)
            SELECT DISTINCT customer, act, 0 FROM artifacts WHERE customer = $1 AND act IS NOT NULL
            ON CONFLICT (customer, act) DO UPDATE SET started_at = 0
            """, [.integer(id)])
        guard pieces > 0 else { return try removeRest(of: id) }
        _ = try removeEntries(of: id, leavingPieces: true)
        var facts = CustomerFacts()
        facts.isUnbound = true
        try session.execute("UPDATE customers SET facts = $1 WHERE id = $2", [.blob(facts.encoded), .integer(id)])
        try session.execute(
            "UPDATE identities SET value = $1 WHERE customer = $2 AND kind = $3",
            [.text("\(Self.removed) \(id)"), .integer(id), SQLValue(Identity.Kind.visit.rawValue)])
    }

    func removeRest(of id: Int64) throws(StoreError) {
        _ = try removeEntries(of: id)
        try removeCustomer(id)
    }

    func isRemovedVisit(_ id: Int64) throws(StoreError) -> Bool {
        try identities(ofMember: id).contains(Identity(.visit, "\(Self.removed) \(id)"))
    }

    /// How the value of a visit begins that is removed: no lead is called so.
    private static let removed = "removed"

    /// So many links are written by one piece.
    static let linksPerPiece = 64

    func newRecord(of visit: Identity, in realm: Realm) throws(StoreError) -> Int64 {
        var facts = CustomerFacts()
        facts.isUnbound = true
        let record = try create(facts, in: realm, .never)
        try insert(visit, of: record)
        return record.id
    }

    /// Whether one of these members is there. Locked, so that nobody is erased before a link is written.
    func isAnyThere(of members: some Collection<Int64>) throws(StoreError) -> Bool {
        try !rows(
            "SELECT id FROM customers WHERE id IN \(RecordTable.batchPlaces)\(session.dialect.forUpdate)",
            about: members.sorted()
        ).isEmpty
    }

    /// Keeps the links of an unbound record to these members, some of those whom its artifacts name, and ends no other.
    func link(_ record: Int64, to members: some Collection<Int64>) throws(StoreError) {
        // Locked, so that nobody is erased before the link is written.
        let rows = try rows(
            "SELECT id FROM customers WHERE id IN \(RecordTable.batchPlaces)\(session.dialect.forUpdate)",
            about: members.sorted())
        for row in rows {
            try session.execute(
                "INSERT INTO unbound_links (unbound, customer) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                [.integer(record), .integer(try row.integer(0))])
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
    func customers(namedBy unbound: Int64) throws(StoreError) -> [Customer] {
        // Many members may be one customer, who is read once.
        var customers: [Customer] = []
        for id in Set(try roots(of: Set(try links(of: unbound))).values).sorted() {
            if let customer = try customer(id) { customers.append(customer) }
        }
        return customers
    }

    /// The unbound records of artifacts that name this customer, by number.
    func visitors(of id: Int64) throws(StoreError) -> [Int64] {
        var found: Set<Int64> = []
        for member in try group(of: id) {
            let rows = try session.rows("SELECT unbound FROM unbound_links WHERE customer = $1", [.integer(member)])
            for row in rows { found.insert(try row.integer(0)) }
        }
        return found.sorted()
    }

    /// By number, which is by age.
    private func visits(of shown: Substring, in realm: Realm) throws(StoreError) -> [Int64] {
        try session.rows(
            // By the index: after a blank comes an exclamation mark.
            """
            SELECT customer FROM identities WHERE realm = $1 AND kind = $2 AND value >= $3 AND value < $4
            ORDER BY customer
            """,
            [
                SQLValue(realm.code), SQLValue(Identity.Kind.visit.rawValue), .text(shown + " "), .text(shown + "!"),
            ]
        ).map { row throws(StoreError) in try row.integer(0) }
    }
}
