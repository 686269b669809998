package import TenureStore

/// The record in PostgreSQL: for several processes beside one database.
///
/// Acts go through a pool of connections, and are flushed on the server before they return. Looking up a customer has
/// connections of its own.
package struct PostgresDatabase: Database {
    package let id: [UInt8]
    let address: PostgresAddress
    private let cluster: PostgresCluster
    private let pool: PostgresPool
    private let lookups: CustomerLookups

    /// Connects, makes the schema where there is none, and brings it up to date.
    ///
    /// - Parameter patience: how long an act may wait for a connection, be it that all are taken or that the server is
    ///   away; so that a short restart of the server is a delay and no error.
    package init(_ address: PostgresAddress, patience: Duration = .seconds(3)) async throws(StoreError) {
        self.address = address
        cluster = PostgresCluster(address)
        pool = PostgresPool(to: cluster, for: .acts, limit: address.connections, patience: patience)
        lookups = CustomerLookups(on: cluster, patience: patience)
        do {
            id = try await pool.run { connection throws(PostgresFailure) in
                try connection.migrate()
                return try connection.databaseID()
            }
        } catch {
            await pool.close()
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
    func newPoolForLookups() -> PostgresPool { CustomerLookups.newPool(on: cluster, patience: .seconds(3)) }

    package func close() async throws(StoreError) {
        await pool.close()
        await lookups.close()
    }
}
