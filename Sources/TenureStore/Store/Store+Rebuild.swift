/// Computes a customer's facts (`CustomerFacts`) again, for `tenure database rebuild`.
extension Store {
    /// Replaces the customer's facts with what `derive` returns for the stored rows, even if the current facts can't be
    /// read. Returns the customer, and whether the facts changed; nil if there is no such customer.
    ///
    /// Rows are read and verified while other transactions write. If another transaction writes a row of the customer,
    /// the rebuild starts again.
    package func rebuild(
        _ id: Int64, by derive: @escaping @Sendable (CustomerRows) throws(StoreError) -> CustomerFacts
    ) async throws(StoreError) -> (customer: Customer, hasChanged: Bool)? {
        try await retrying { () throws(StoreError) -> Attempt<(customer: Customer, hasChanged: Bool)?> in
            guard let found = try await read({ try $0.rebuildable(id) }) else { return .done(nil) }
            let facts = try derive(found.rows)
            let customer = found.rows.customer
            guard facts != customer.facts || !found.areFactsReadable else { return .done((customer, false)) }
            let encoded = EncodedFacts(facts)
            return try await write { transaction in
                guard try transaction.rowsFingerprint(of: id, forUpdate: true) == found.fingerprint
                else { return .unfinished }
                if !found.areFactsReadable {
                    // The customer in `found` has empty facts in place of the unreadable facts. If the new facts are
                    // empty too, `update` sees no difference and writes nothing, so the row must have empty facts
                    // first.
                    try transaction.session.execute(
                        "UPDATE customers SET facts = $1 WHERE id = $2",
                        [.blob(customer.facts.encoded), .integer(customer.id)])
                }
                return .done((try transaction.update(customer, to: facts, encoded: encoded), true))
            }
        }
    }
}

/// A customer with the rows from which the facts can be computed again.
private struct Rebuildable: Sendable {
    /// The rows. The customer's facts are empty if the stored facts can't be read.
    let rows: CustomerRows
    let areFactsReadable: Bool
    let fingerprint: RowsFingerprint
}

/// A summary of a customer's rows. Two summaries differ if the facts changed, or if a row was added or removed in
/// between.
private struct RowsFingerprint: Sendable, Hashable {
    /// The stored bytes of the facts.
    let facts: [UInt8]
    /// The row IDs of the customer and of all customers that were merged into it.
    let group: [Int64]
    /// For each table with rows of the customer, the number of these rows and the highest row ID.
    let counts: [Int64]
}

extension DatabaseTransaction {
    /// Returns a customer with all rows. Nil if there is no such customer, or if it was merged into another customer.
    fileprivate func rebuildable(_ id: Int64) throws(StoreError) -> Rebuildable? {
        guard let fingerprint = try rowsFingerprint(of: id, forUpdate: false),
            let row = try session.row("SELECT \(Customer.columns) FROM customers WHERE id = $1", [.integer(id)])
        else { return nil }
        let readable = try? Customer(row)
        let customer = if let readable { readable } else { try Customer(row, with: CustomerFacts()) }
        return Rebuildable(rows: try rows(of: customer), areFactsReadable: readable != nil, fingerprint: fingerprint)
    }

    /// Returns a summary of the customer's rows. Nil if there is no such customer, or if it was merged into another
    /// customer.
    fileprivate func rowsFingerprint(of id: Int64, forUpdate: Bool) throws(StoreError) -> RowsFingerprint? {
        let lock = forUpdate ? session.dialect.forUpdate : ""
        let row = try session.row("SELECT facts, merged_into FROM customers WHERE id = $1\(lock)", [.integer(id)])
        guard let row, try row.integerIfPresent(1) == nil else { return nil }
        let group = try group(of: id)
        var counts: [Int64] = []
        for (table, condition) in Self.tablesOfFacts {
            let rows = try rows(
                """
                SELECT count(*), coalesce(max(id), 0) FROM \(table)
                WHERE customer IN \(Self.batch) AND \(condition)
                """, about: group)
            for row in rows { counts += [try row.integer(0), try row.integer(1)] }
        }
        return RowsFingerprint(facts: try row.bytes(0), group: group, counts: counts)
    }

    /// The tables from which facts are computed, and the SQL condition under which a row counts.
    private static let tablesOfFacts = [
        ("artifacts", doesArtifactCount), ("promises", "ended_by IS NULL"), ("notifications", "1 = 1"),
        ("support_grants", "1 = 1"), ("events", "1 = 1"),
    ]
}
