/// Reads the whole database, for `tenure database check` and `tenure database rebuild`.
extension DatabaseTransaction {
    /// Calls `report` with each problem: damage in the database, and rows that contradict each other. Doesn't verify
    /// signatures.
    package func checkIntegrity(_ report: (DatabaseFinding) -> Void) throws(StoreError) {
        try session.allowPauses()
        try withoutActuallyEscaping(report) { report throws(StoreError) in
            try DatabaseIntegrity(session: session, report: report).check()
        }
    }

    /// Counts all customers, including customers that were merged into others.
    package func customerCount() throws(StoreError) -> Int64 {
        try session.allowLongStatements()
        return try session.row("SELECT count(*) FROM customers")?.integer(0) ?? 0
    }

    /// Reads a page of customers: their row IDs (`number`), in this order, their public IDs, and whether they are
    /// living, that is, not merged into another customer.
    ///
    /// - Parameter number: the row ID of the last customer on the previous page.
    package func allCustomers(
        after number: Int64, limit: Int
    ) throws(StoreError) -> [(number: Int64, publicID: String, isLiving: Bool)] {
        try session.rows(
            "SELECT id, public_id, merged_into FROM customers WHERE id > $1 ORDER BY id LIMIT $2",
            [.integer(number), SQLValue(limit)]
        ).map { row throws(StoreError) in
            (try row.integer(0), try row.text(1), try row.integerIfPresent(2) == nil)
        }
    }

    /// Reads a customer's row, even if the customer was merged into another. Throws `damaged` if its columns can't be
    /// decoded.
    package func readRow(of customer: Int64) throws(StoreError) {
        guard let row = try session.row("SELECT \(Customer.columns) FROM customers WHERE id = $1", [.integer(customer)])
        else { return }
        _ = try Customer(row)
    }
}
