import Foundation
import TenureCore

/// Erasure removes everything that tells of a person: their entries, those of all who turned out to be them, and the
/// unbound records of artifacts that name them.
///
/// One transaction hides all of these customers: no verb finds them anymore. Their rows are then removed in pieces, by
/// `removeLeftover`. A hidden customer is merged into themselves, and `unfinished_acts` lists them until the last row is
/// gone.
extension Ledger {
    /// Stands for an erasure where the number of an act is asked for.
    static let erasing: Int64 = 0
    /// So many rows of a customer are removed by one piece.
    static let removedPerPiece = 64
    /// So many customers are hidden by one transaction, beside the members of one customer.
    static let hiddenPerPiece = 16

    /// Hides a customer with all who are one with them. Returns how many entries of each kind there are.
    func hide(_ customer: CustomerMember) throws(StoreError) -> [String: Int] {
        let members = try group(of: customer.id)
        // Locked, so that no unbound record is linked to one of them after it was looked for.
        _ = try lockedThere(of: members)
        let visitors = try visitors(of: members)
        return try hide(members + visitors)
    }

    /// Returns how many entries of each kind there are.
    func hide(_ ids: [Int64]) throws(StoreError) -> [String: Int] {
        var counts = ["customers": ids.count]
        for (name, table) in Self.counted {
            let rows = try rows(
                "SELECT count(*) FROM \(table) WHERE customer IN \(RecordTable.batchPlaces)", about: ids)
            for row in rows { counts[name, default: 0] += Int(clamping: try row.integer(0)) }
        }
        for statement in Self.hiding { try execute(statement, about: ids) }
        let nothing = SQLValue.blob(CustomerFacts().encoded)
        for chunk in ids.chunks(of: RecordTable.batchSize) {
            try session.execute(
                """
                UPDATE customers SET facts = $1, merged_into = id, announced = NULL, next_end = NULL
                WHERE id IN (\(Self.places(RecordTable.batchSize, from: 2)))
                """, [nothing] + RecordTable.batch(Array(chunk)))
        }
        return counts
    }

    /// Removes some of what is left of a hidden customer.
    func removeSome(ofHidden id: Int64) throws(StoreError) {
        var left = Self.removedPerPiece - (try buryIdentities(of: id, limit: Self.removedPerPiece))
        for statement in Self.removing where left > 0 {
            left -= try session.execute(statement, [.integer(id), SQLValue(left)])
        }
        guard left > 0 else { return }
        try session.execute("DELETE FROM unfinished_acts WHERE customer = $1", [.integer(id)])
        try session.execute("DELETE FROM customers WHERE id = $1", [.integer(id)])
    }

    /// How many entries an erasure under way began with; nil where none of this customer is.
    func countsOfErasure(of name: CustomerName) throws(StoreError) -> [String: Int]? {
        guard case .publicID(let id) = name,
            try session.row("SELECT 1 FROM customers WHERE public_id = $1 AND merged_into = id", [.text(id)]) != nil
        else { return nil }
        let line = try audit(before: nil, of: id, limit: 1).first { $0.act == CustomerAct.erase.name }
        return (line?.detail ?? [:]).compactMapValues { Int($0) }
    }

    /// The tables with a customer's entries, with the names under which they are counted.
    private static let counted = [
        ("webhooks", "outbox"), ("artifacts", "artifacts"), ("notifications", "notifications"),
        ("identities", "identities"), ("promises", "promises"), ("support", "support_acts"), ("events", "events"),
        ("devices", "devices"), ("trialSessions", "trial_sessions"), ("jobs", "jobs"),
    ]

    /// What is found by another way than through the customer, and who is to be removed.
    private static let hiding = [
        """
        DELETE FROM delivery_log WHERE delivery IN (
            SELECT deliveries.id FROM deliveries JOIN outbox ON outbox.id = message
            WHERE outbox.customer IN \(RecordTable.batchPlaces))
        """,
        """
        DELETE FROM deliveries WHERE message IN (SELECT id FROM outbox WHERE customer IN \(RecordTable.batchPlaces))
        """,
        "DELETE FROM outbox WHERE customer IN \(RecordTable.batchPlaces)",
        "DELETE FROM jobs WHERE customer IN \(RecordTable.batchPlaces)",
        // Its examples tell of them; it is made again where it is needed.
        """
        DELETE FROM rehearsals WHERE EXISTS (
            SELECT 1 FROM customers
            WHERE customers.id IN \(RecordTable.batchPlaces) AND report LIKE '%' || public_id || '%')
        """,
        """
        DELETE FROM requests WHERE customer IN (
            SELECT public_id FROM customers WHERE id IN \(RecordTable.batchPlaces))
        """,
        "DELETE FROM unfinished_acts WHERE customer IN \(RecordTable.batchPlaces)",
        """
        INSERT INTO unfinished_acts (customer, act, started_at)
        SELECT id, \(erasing), 0 FROM customers WHERE id IN \(RecordTable.batchPlaces)
        """,
    ]

    /// What names a customer beside their identities: at most `$2` rows of each.
    private static let removing =
        ["artifacts", "notifications", "promises", "support_acts", "events", "trial_sessions"].map { table in
            "DELETE FROM \(table) WHERE id IN (SELECT id FROM \(table) WHERE customer = $1 LIMIT $2)"
        }
        + [
            ("devices", "customer, device", "customer"), ("unbound_links", "unbound, customer", "unbound"),
            ("unbound_links", "unbound, customer", "customer"), ("separations", "first, second", "first"),
            ("separations", "first, second", "second"),
        ].map { table, key, column in
            "DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) WHERE \(column) = $1 LIMIT $2)"
        }
}
