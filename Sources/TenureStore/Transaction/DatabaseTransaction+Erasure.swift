/// Erasure removes everything about a person: the rows of all members of the customer, and the unbound customers with
/// artifacts that name this customer. `DatabaseTransaction` explains these terms.
///
/// One transaction hides all of these customers: no operation finds them anymore, and no webhook endpoint gets their
/// messages. `removeSome` then deletes their rows in pieces. A hidden customer is merged into itself, and the table
/// `unfinished_updates` lists it until its last row is gone.
extension DatabaseTransaction {
    /// The `update_id` of an erasure in `unfinished_updates`.
    static let erasureUpdateID: Int64 = 0
    /// How many rows of a customer one piece removes.
    static let removedPerPiece = 32
    /// How many customers one transaction hides, in addition to the members of one customer.
    static let hiddenPerPiece = 16

    /// Hides a customer with all members, and the unbound customers with artifacts that name it. Returns the counts
    /// that `hide(_:)` returns for their row IDs.
    func hide(_ customer: CustomerMember) throws(StoreError) -> [String: Int] {
        let members = try group(of: customer.id)
        // The members are locked, so that no unbound customer is linked to one of them after the search.
        _ = try lockExisting(members)
        let unboundCustomers = try unboundCustomers(of: members)
        return try hide(members + unboundCustomers)
    }

    /// Hides the customers with these row IDs. Returns the number of customers (`customers`), and the number of their
    /// rows by the names in `countedTables`, for the response and the audit trail.
    func hide(_ ids: [Int64]) throws(StoreError) -> [String: Int] {
        var counts = ["customers": ids.count]
        for (name, table) in Self.countedTables {
            let sql = "SELECT count(*) FROM \(table) WHERE customer IN \(Self.batch)"
            for count in try integers(sql, about: ids) { counts[name, default: 0] += Int(clamping: count) }
        }
        try recordTombstones(ids)
        for statement in Self.hidingStatements { try execute(statement, about: ids) }
        let nothing = SQLValue.blob(CustomerFacts().encoded)
        for chunk in ids.chunks(of: DatabaseTable.batchSize) {
            try session.execute(
                """
                UPDATE customers SET facts = $1, merged_into = id, sent_entitlements = NULL, next_comparison = NULL
                WHERE id IN (\(Self.placeholders(DatabaseTable.batchSize, from: 2)))
                """, [nothing] + DatabaseTable.batch(chunk))
        }
        return counts
    }

    /// Removes at most `removedPerPiece` rows of a hidden customer. Returns true if no more rows are left.
    func removeSome(ofHidden id: Int64) throws(StoreError) -> Bool {
        // The number of rows that this piece may still remove.
        var limit = Self.removedPerPiece - (try replaceIdentitiesWithHashes(of: id, limit: Self.removedPerPiece))
        while limit > 0 {
            let count = try removeMessages(of: id, limit: limit)
            guard count > 0 else { break }
            limit -= count
        }
        for statement in Self.removalStatements {
            guard limit > 0 else { break }
            limit -= try session.execute(statement, [.integer(id), SQLValue(limit)])
        }
        // If the limit was reached, there may be more rows.
        guard limit > 0 else { return false }
        try session.execute("DELETE FROM unfinished_updates WHERE customer = $1", [.integer(id)])
        try session.execute("DELETE FROM customers WHERE id = $1", [.integer(id)])
        return true
    }

    /// The counts of an unfinished erasure, from the audit trail; nil if this customer isn't being erased.
    func countsOfErasure(of name: CustomerName) throws(StoreError) -> [String: Int]? {
        guard case .publicID(let id) = name,
            try session.row("SELECT 1 FROM customers WHERE public_id = $1 AND merged_into = id", [.text(id)]) != nil
        else { return nil }
        // Requests that were refused since then have entries, too.
        let entry = try audit(before: nil, of: id, limit: 100)
            .first { $0.action == CustomerChange.erase.name && $0.detail["refused"] == nil }
        // Keeps only the counts: the reason of the request may be a number, too.
        let names = ["customers"] + Self.countedTables.map { name, _ in name }
        return (entry?.detail ?? [:]).filter { names.contains($0.key) }.compactMapValues { Int($0) }
    }

    /// The tables with rows of customers, each after the name of its count in the response and the audit trail.
    private static let countedTables = [
        ("webhooks", "outbox"), ("artifacts", "artifacts"), ("notifications", "notifications"),
        ("identities", "identities"), ("promises", "promises"), ("support", "support_grants"), ("events", "events"),
        ("devices", "devices"), ("trialSessions", "trial_sessions"), ("jobs", "jobs"),
    ]

    /// Statements that hide customers. The first one removes the jobs at once, because a customer has at most one job
    /// of each kind. The other statements replace the customers' rows in `unfinished_updates` with rows that mark the
    /// customers for erasure.
    private static let hidingStatements = [
        "DELETE FROM jobs WHERE customer IN \(batch)", "DELETE FROM unfinished_updates WHERE customer IN \(batch)",
        """
        INSERT INTO unfinished_updates (customer, update_id, started_at)
        SELECT id, \(erasureUpdateID), 0 FROM customers WHERE id IN \(batch)
        """,
    ]

    /// Statements that remove all other rows of a customer, at most `$2` rows each.
    private static let removalStatements =
        ["artifacts", "notifications", "promises", "support_grants", "events", "trial_sessions"].map { table in
            "DELETE FROM \(table) WHERE id IN (SELECT id FROM \(table) WHERE customer = $1 LIMIT $2)"
        }
        + [
            ("devices", "customer, device", "customer"), ("unbound_links", "unbound, customer", "unbound"),
            ("unbound_links", "unbound, customer", "customer"), ("separations", "first, second", "first"),
            ("separations", "first, second", "second"),
        ].map { table, key, column in
            "DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) WHERE \(column) = $1 LIMIT $2)"
        } + [
            """
            DELETE FROM requests WHERE (actor, request) IN (
                SELECT actor, request FROM requests
                WHERE customer = (SELECT public_id FROM customers WHERE id = $1) LIMIT $2)
            """
        ]
}
