import TenureStore

@testable import TenurePostgres

/// The floor of the store's look-ups: a transaction with one SELECT for each customer, one at a time on each
/// connection. Nothing is decoded.
struct BareSelects: Sendable {
    private let pool: PostgresPool

    init(_ database: PostgresDatabase) {
        pool = PostgresPool(
            to: PostgresCluster(database.address), for: .lookups, limit: 2, waitTimeout: .seconds(3))
    }

    /// Selects the row of the customer with this number. Throws if there is no such customer.
    func select(_ id: Int64) async throws(StoreError) {
        let count = try await pool.run { connection throws(PostgresFailure) in
            var parameters = PostgresParameters()
            parameters.append(id)
            return try connection.transact(.lookingUp) { () throws(PostgresFailure) in
                try connection.answer("SELECT \(Customer.columns) FROM customers WHERE id = $1", parameters).rowCount
            }
        }
        guard count == 1 else { throw .failed("there is no customer \(id)") }
    }
}
