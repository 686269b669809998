/// A whole record as one transaction sees it: for work that goes through all of it.
package struct DatabaseSnapshot {
    private let session: any DatabaseSession
    private let transaction: DatabaseTransaction

    package init(_ session: any DatabaseSession) {
        self.session = session
        transaction = DatabaseTransaction(session)
    }

    /// What is wrong with the database, and between its rows.
    package func checkIntegrity(_ report: (DatabaseFinding) -> Void) throws(StoreError) {
        try session.allowPauses()
        try withoutActuallyEscaping(report) { report throws(StoreError) in
            try DatabaseIntegrity(session: session, report: report).check()
        }
    }

    package func policies() throws(StoreError) -> [StoredPolicy] { try transaction.policies() }

    /// All customers, those too who turned out to be another.
    package func customerCount() throws(StoreError) -> Int64 {
        try session.row("SELECT count(*) FROM customers")?.integer(0) ?? 0
    }

    /// The number, the public id, and whether it is a customer who is themselves.
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

    /// Throws `damaged` where the row does not say what was written; for one who turned out to be another, too.
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
    /// Whether artifacts may have come that the ledger had no room for, so that the facts say more than it does.
    package var isFull: Bool { artifacts.count >= DatabaseTransaction.artifactsPerCustomer }
}
