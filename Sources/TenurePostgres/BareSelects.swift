package import TenureStore

/// Looks customers up as simply as it goes: one prepared SELECT for each, one at a time on each connection, nothing
/// decoded. What the store's own look-ups are measured against.
package struct BareSelects: Sendable {
    private let pool: PostgresPool

    package init(_ store: PostgresStore) {
        pool = store.newPoolForLookups()
    }

    /// Throws unless there is one such customer.
    package func select(_ id: Int64) async throws(StoreError) {
        let count = try await pool.run { connection throws(PostgresFailure) in
            var parameters = PostgresParameters()
            parameters.append(id)
            return try connection.answer("SELECT \(Customer.columns) FROM customers WHERE id = $1", parameters).rowCount
        }
        guard count == 1 else { throw .failed("there is no customer \(id)") }
    }
}
