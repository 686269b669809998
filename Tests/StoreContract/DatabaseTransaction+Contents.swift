package import TenureStore

extension DatabaseTransaction {
    /// Throws if the database doesn't respond.
    package func check() throws(StoreError) {
        guard try session.row("SELECT count(*) FROM database") != nil else { throw .failed("it doesn't respond") }
    }

    /// The numbers of the customers that weren't merged into other customers.
    package func customers(after id: Int64, limit: Int) throws(StoreError) -> [Int64] {
        try session.rows(
            "SELECT id FROM customers WHERE id > $1 AND merged_into IS NULL ORDER BY id LIMIT $2",
            [.integer(id), SQLValue(limit)]
        ).map { row throws(StoreError) in try row.integer(0) }
    }

    package func artifacts(of customer: Int64) throws(StoreError) -> [Artifact] {
        let entries = try signedEntries(of: customer, after: SignedEntries.Position(), limit: .max)
        return entries?.artifacts.map(\.artifact) ?? []
    }
}
