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

    /// Removes the oldest visits of what this one shows, so that there is room for it. Whoever comes again with the same
    /// gets a new one.
    func makeRoom(for visit: Identity, in realm: Realm) throws(StoreError) {
        let visits = try self.visits(of: visit.shown, in: realm)
        guard visits.count >= Self.mostVisits else { return }
        for id in visits.prefix(visits.count - Self.mostVisits + 1) {
            _ = try removeEntries(of: id)
            try removeCustomer(id)
        }
    }

    /// Keeps what was sent without proof that it is the sender's in a record of its own, linked to those members whom it
    /// names; nil where there are none.
    func recordUnbound(
        _ visit: Identity, _ members: [Int64], in realm: Realm, _ amendment: Amendment, _ encoded: EncodedFacts
    ) throws(StoreError) -> Customer? {
        // Locked, so that nobody is erased before the link is written.
        var links: [Int64] = []
        for id in members where try member(.number(id)) != nil { links.append(id) }
        guard !links.isEmpty else { return nil }
        var ledger = self
        ledger.remembered = encoded
        let record: Customer
        if let former = try ledger.customer(by: visit, in: realm, forUpdate: true) {
            var amendment = amendment
            amendment.keep(former.facts.support)
            // Of the same artifacts, so that it holds all that this one does, or the first pieces of it.
            let isWritten =
                former.facts.purchases.count > amendment.facts.purchases.count || former.facts == amendment.facts
            record = isWritten ? former : try ledger.update(former, to: amendment.facts, amendment.announcement)
            if !isWritten { try ledger.record(amendment, of: record, instead: former) }
        } else {
            try makeRoom(for: visit, in: realm)
            record = try create(amendment.facts, in: realm, amendment.announcement, encoded: encoded)
            try insert(visit, of: record)
            try ledger.record(amendment, of: record, instead: nil)
        }
        // The same artifacts again write nothing.
        let known = try session.rows(
            "SELECT customer FROM unbound_links WHERE unbound = $1 ORDER BY customer", [.integer(record.id)]
        ).map { row throws(StoreError) in try row.integer(0) }
        guard known != links.sorted() else { return record }
        try session.execute("DELETE FROM unbound_links WHERE unbound = $1", [.integer(record.id)])
        for link in links {
            try session.execute(
                "INSERT INTO unbound_links (unbound, customer) VALUES ($1, $2)", [.integer(record.id), .integer(link)])
        }
        return record
    }

    /// The customers whom the artifacts of an unbound record name.
    func customers(namedBy unbound: Int64) throws(StoreError) -> [Customer] {
        let links = try session.rows(
            "SELECT customer FROM unbound_links WHERE unbound = $1 ORDER BY customer", [.integer(unbound)]
        ).map { row throws(StoreError) in try row.integer(0) }
        var found: [Int64: Customer] = [:]
        for link in links {
            if let customer = try customer(link) { found[customer.id] = customer }
        }
        return found.values.sorted { $0.id < $1.id }
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
