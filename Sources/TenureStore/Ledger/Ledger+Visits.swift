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

    /// The records of those who showed something that names this customer without proving that it is theirs, by number.
    func visitors(of id: Int64, in realm: Realm) throws(StoreError) -> [Int64] {
        var found: Set<Int64> = []
        for identity in try identities(of: id) where identity.kind < .visit {
            for lead in Identity.Lead.allCases { found.formUnion(try visits(of: lead.shown(identity), in: realm)) }
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
