package import TenureStore

/// The record in PostgreSQL: for several processes beside one database.
///
/// Acts go through a pool of connections, and are flushed on the server before they return. Looking up a customer has
/// connections of its own.
package struct PostgresDatabase: Database {
    package let id: [UInt8]
    private let address: PostgresAddress
    private let pool: PostgresPool
    private let lookups: CustomerLookups
    /// What every transaction requires of the database that it meets.
    private let terms: DatabaseTerms

    /// Connects and opens the database.
    ///
    /// - Parameter patience: how long an act may wait for a connection, be it that all are taken or that the server is
    ///   away; so that a short restart of the server is a delay and no error.
    package init(
        _ address: PostgresAddress, _ opening: DatabaseOpening = DatabaseOpening(), patience: Duration = .seconds(3)
    ) async throws(StoreError) {
        self.address = address
        pool = PostgresPool(to: address, for: .acts, limit: address.connections, patience: patience)
        do {
            id = try await pool.run { connection throws(PostgresFailure) in try connection.open(opening) }
        } catch {
            await pool.close()
            throw error
        }
        terms = opening.terms(for: address.fullName, opened: id)
        lookups = CustomerLookups(at: address, under: terms, patience: patience)
    }

    package func lookUp(_ id: Int64) async throws(StoreError) -> Customer? {
        try await lookups.customer(id)
    }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any DatabaseSession) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await pool.run { [terms] connection throws(PostgresFailure) in
            try connection.transact(.reading, under: terms, body)
        }
    }

    package func write<Value: Sendable>(
        locking keys: [LockKey], _ body: @escaping @Sendable (any DatabaseSession) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let keys = AdvisoryKeys(keys.map(\.text), schema: address.schema)
        return try await pool.run { [terms] connection throws(PostgresFailure) in
            try connection.transact(.writing(keys), under: terms, body)
        }
    }

    package func writeAlone<Value: Sendable>(
        _ body: @escaping @Sendable (any DatabaseSession) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await pool.run { [terms] connection throws(PostgresFailure) in
            try connection.transact(.alone, under: terms, body)
        }
    }

    /// With as many connections as the store looks customers up on.
    func newPoolForLookups() -> PostgresPool { CustomerLookups.newPool(at: address, patience: .seconds(3)) }

    package func close() async throws(StoreError) {
        await pool.close()
        await lookups.close()
    }
}
