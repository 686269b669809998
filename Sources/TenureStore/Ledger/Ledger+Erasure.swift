import Foundation
import TenureCore

extension Ledger {
    /// Removes everything that tells of a person: their entries, those of all who turned out to be them, and the
    /// records of who showed what names them. Says how many entries of each kind there were.
    func erase(_ customer: Customer) throws(StoreError) -> [String: Int] {
        let members = try group(of: customer.id)
        // Locked, so that no unbound record is linked to one of them after it was looked for.
        for id in members { _ = try member(.number(id)) }
        let visitors = try visitors(of: customer.id)
        try bury(try identities(of: customer.id), in: customer.realm)
        var counts: [String: Int] = ["customers": members.count + visitors.count]
        for id in members + visitors {
            counts.merge(try removeEntries(of: id)) { $0 + $1 }
            try session.execute("UPDATE customers SET merged_into = NULL WHERE id = $1", [.integer(id)])
        }
        for id in members + visitors { try removeCustomer(id) }
        return counts
    }

    /// How many there were of each kind. `leavingPieces`: without identities, and artifacts written in pieces.
    func removeEntries(of id: Int64, leavingPieces: Bool = false) throws(StoreError) -> [String: Int] {
        var counts: [String: Int] = [:]
        if !leavingPieces { try session.execute("DELETE FROM unfinished_acts WHERE customer = $1", [.integer(id)]) }
        for (name, statement) in Self.erasing where !(leavingPieces && name == "identities") {
            let condition = leavingPieces && name == "artifacts" ? " AND act IS NULL" : ""
            let count = try session.execute(statement + condition, [.integer(id)])
            if let name { counts[name] = count }
        }
        return counts
    }

    func removeCustomer(_ id: Int64) throws(StoreError) {
        try session.execute("DELETE FROM customers WHERE id = $1", [.integer(id)])
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
        (
            // Its examples tell of them; it is made again where it is needed.
            nil,
            """
            DELETE FROM rehearsals WHERE EXISTS (
                SELECT 1 FROM customers WHERE customers.id = $1 AND report LIKE '%' || public_id || '%')
            """
        ),
        (nil, "DELETE FROM unbound_links WHERE unbound = $1"),
        (nil, "DELETE FROM unbound_links WHERE customer = $1"),
        (nil, "DELETE FROM separations WHERE first = $1"),
        (nil, "DELETE FROM separations WHERE second = $1"),
        (nil, "DELETE FROM requests WHERE customer IN (SELECT public_id FROM customers WHERE id = $1)"),
    ]
}
