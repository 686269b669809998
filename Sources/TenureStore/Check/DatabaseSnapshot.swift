/// One transaction's view of the whole database, for work that reads all of it.
package struct DatabaseSnapshot {
    private let session: any DatabaseSession
    private let transaction: DatabaseTransaction

    package init(_ session: any DatabaseSession) {
        self.session = session
        transaction = DatabaseTransaction(session)
    }

    /// Reports damage in the database, and rows that contradict each other.
    package func checkIntegrity(_ report: (DatabaseFinding) -> Void) throws(StoreError) {
        try session.allowPauses()
        try withoutActuallyEscaping(report) { report throws(StoreError) in
            try DatabaseIntegrity(session: session, report: report).check()
        }
    }

    package func policies() throws(StoreError) -> [StoredPolicy] { try transaction.policies() }

    /// Counts all customers, including those that were merged into others.
    package func customerCount() throws(StoreError) -> Int64 {
        try session.allowLongStatements()
        return try session.row("SELECT count(*) FROM customers")?.integer(0) ?? 0
    }

    /// Reads customers with their number, their public ID, and whether they are living: not merged into another.
    package func customers(
        after number: Int64, limit: Int
    ) throws(StoreError) -> [(number: Int64, publicID: String, isLiving: Bool)] {
        try session.rows(
            "SELECT id, public_id, merged_into FROM customers WHERE id > $1 ORDER BY id LIMIT $2",
            [.integer(number), SQLValue(limit)]
        ).map { row throws(StoreError) in
            (try row.integer(0), try row.text(1), try row.integerIfPresent(2) == nil)
        }
    }

    /// Reads a customer's row, also of a merged customer. Throws `damaged` if its columns can't be decoded.
    package func readRow(of customer: Int64) throws(StoreError) {
        guard
            let row = try session.row(
                "SELECT \(Customer.columns) FROM customers WHERE id = $1", [.integer(customer)])
        else { return }
        _ = try Customer(row)
    }

    package func rows(of customer: Int64) throws(StoreError) -> CustomerRows? { try transaction.rows(of: customer) }
}

extension CustomerRows {
    /// Whether the customer has the maximum number of artifacts. The database then stores only the facts of further ones.
    package var isFull: Bool { artifacts.count >= DatabaseTransaction.artifactsPerCustomer }
}
