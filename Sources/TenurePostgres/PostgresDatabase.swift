package import TenureStore

/// The record in PostgreSQL: for several processes beside one database.
///
/// Acts go through a pool of connections, and are flushed on the server before they return. Looking up a customer has
/// connections of its own.
package struct PostgresDatabase: Database {
    package let id: [UInt8]
    let address: PostgresAddress
    /// Shared with the other apps on this server.
    private let budget: PostgresBudget
    private let cluster: PostgresCluster
    private let patience: Duration
    private let pool: PostgresPool
    private let lookups: CustomerLookups

    /// Connects, makes the schema where there is none, and brings it up to date.
    ///
    /// - Parameter patience: how long an act may wait for a connection, be it that all are taken or that the server is
    ///   away; so that a short restart of the server is a delay and no error.
    package init(_ address: PostgresAddress, patience: Duration = .seconds(3)) async throws(StoreError) {
        self.address = address
        self.patience = patience
        budget = PostgresBudget.shared(for: address)
        cluster = budget.cluster(for: address)
        pool = PostgresPool(on: budget.operations, to: cluster, for: address, patience: patience)
        lookups = CustomerLookups(
            PostgresPool(on: budget.lookups, to: cluster, for: address, patience: patience), patience: patience)
        do {
            id = try await pool.run { connection throws(PostgresFailure) in
                try connection.migrate()
                return try connection.databaseID()
            }
        } catch {
            await pool.close()
            await lookups.close()
            throw error
        }
    }

    package func lookUp(_ id: Int64) async throws(StoreError) -> Customer? {
        try await lookups.customer(id)
    }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any DatabaseSession) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await pool.run { connection throws(PostgresFailure) in try connection.transact(.reading, body) }
    }

    package func write<Value: Sendable>(
        locking keys: [LockKey], _ body: @escaping @Sendable (any DatabaseSession) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let keys = AdvisoryKeys(keys.map(\.text), schema: address.schema)
        return try await pool.run { connection throws(PostgresFailure) in
            try connection.transact(.writing(keys), body)
        }
    }

    /// With as many connections as the store looks customers up on.
    func newPoolForLookups() -> PostgresPool {
        PostgresPool(on: budget.lookups, to: cluster, for: address, patience: patience)
    }

    package func close() async throws(StoreError) {
        await pool.close()
        await lookups.close()
    }
}
