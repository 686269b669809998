import Foundation
import TenureCore

extension Ledger {
    /// Removes everything that tells of a person: their entries, those of all who turned out to be them, and the
    /// records of who showed what names them. Says how many entries of each kind there were.
    func erase(_ customer: Customer) throws(StoreError) -> [String: Int] {
        let visitors = try visitors(of: customer.id, in: customer.realm)
        let members = try group(of: customer.id)
        var counts: [String: Int] = ["customers": members.count + visitors.count]
        for id in members + visitors {
            for (name, statement) in Self.erasing {
                let count = try session.execute(statement, [.integer(id)])
                if let name { counts[name, default: 0] += count }
            }
            try session.execute("UPDATE customers SET merged_into = NULL WHERE id = $1", [.integer(id)])
        }
        for id in members + visitors {
            try session.execute("DELETE FROM customers WHERE id = $1", [.integer(id)])
        }
        return counts
    }

    /// What names a customer, those first that name another of these. With the names under which they are counted.
    private static let erasing: [(String?, String)] = [
        (
            nil,
            """
            DELETE FROM delivery_log WHERE delivery IN (
                SELECT deliveries.id FROM deliveries JOIN outbox ON outbox.id = message WHERE outbox.customer = $1)
            """
        ),
        (nil, "DELETE FROM deliveries WHERE message IN (SELECT id FROM outbox WHERE customer = $1)"),
        ("webhooks", "DELETE FROM outbox WHERE customer = $1"),
        ("artifacts", "DELETE FROM artifacts WHERE customer = $1"),
        ("notifications", "DELETE FROM notifications WHERE customer = $1"),
        ("identities", "DELETE FROM identities WHERE customer = $1"),
        ("promises", "DELETE FROM promises WHERE customer = $1"),
        ("support", "DELETE FROM support_acts WHERE customer = $1"),
        ("events", "DELETE FROM events WHERE customer = $1"),
        ("devices", "DELETE FROM devices WHERE customer = $1"),
        ("trialSessions", "DELETE FROM trial_sessions WHERE customer = $1"),
        ("jobs", "DELETE FROM jobs WHERE customer = $1"),
        (nil, "DELETE FROM separations WHERE first = $1"),
        (nil, "DELETE FROM separations WHERE second = $1"),
        (nil, "DELETE FROM requests WHERE customer IN (SELECT public_id FROM customers WHERE id = $1)"),
    ]

    /// The records of those who showed something that names this customer without proving that it is theirs.
    func visitors(of id: Int64, in realm: Realm) throws(StoreError) -> [Int64] {
        var found: [Int64] = []
        for identity in try identities(of: id) where identity.kind < .visit {
            for lead in Identity.Lead.allCases {
                let shown = lead.shown(identity)
                let rows = try session.rows(
                    // By the index: after a blank comes an exclamation mark.
                    "SELECT customer FROM identities WHERE realm = $1 AND kind = $2 AND value >= $3 AND value < $4",
                    [
                        SQLValue(realm.code), SQLValue(Identity.Kind.visit.rawValue),
                        .text(shown + " "), .text(shown + "!"),
                    ])
                for row in rows {
                    let visitor = try row.integer(0)
                    if !found.contains(visitor) { found.append(visitor) }
                }
            }
        }
        return found
    }
}
