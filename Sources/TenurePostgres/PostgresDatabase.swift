package import TenureStore

/// A PostgreSQL database, which several processes may use.
///
/// Transactions use a pool of connections. A transaction that writes returns after the server has flushed it. Looking
/// up a customer uses separate connections.
package struct PostgresDatabase: Database {
    package let id: [UInt8]
    let address: PostgresAddress
    /// The connections that all apps on this server share. A budget exists as long as a database of an app refers to
    /// it.
    private let budget: PostgresBudget
    /// Runs the transactions.
    private let pool: PostgresPool
    /// Looks up customers by row ID, on separate connections.
    private let lookups: CustomerLookups
    /// What every transaction requires of the database.
    private let requirements: DatabaseRequirements

    /// Connects and opens the database.
    ///
    /// - Parameters:
    ///   - waitTimeout: How long a transaction may wait for a connection. With the default, waiting transactions
    ///     survive a short restart of the server.
    ///   - storage: Stores which server was the primary, so that the process knows it after a restart; nil to store
    ///     nothing.
    package init(
        _ address: PostgresAddress, _ opening: DatabaseOpening = DatabaseOpening(), waitTimeout: Duration = .seconds(3),
        storage: PrimaryStorage? = nil
    ) async throws(StoreError) {
        self.address = address
        budget = PostgresBudget.shared(for: address)
        let cluster = budget.cluster(for: address)
        if let storage { cluster.use(storage) }
        pool = PostgresPool(on: budget.transactions, to: cluster, for: address, waitTimeout: waitTimeout)
        let poolForLookups = PostgresPool(
            on: budget.lookups, to: cluster, for: address, waitTimeout: waitTimeout)
        do {
            id = try await pool.run { connection throws(PostgresFailure) in try connection.open(opening) }
        } catch {
            await pool.close()
            await poolForLookups.close()
            throw error
        }
        requirements = opening.requirements(for: address.fullName, opened: id)
        lookups = CustomerLookups(poolForLookups, under: requirements, waitTimeout: waitTimeout)
    }

    package var connectionPools: [ConnectionPoolUsage] { [pool.usage, lookups.usage] }

    package func lookUp(_ id: Int64) async throws(StoreError) -> Customer? {
        try await lookups.customer(id) { id throws(StoreError) in
            try await read { session throws(StoreError) in try DatabaseTransaction(session).customer(id) }
        }
    }

    package func read<Value: Sendable>(_ body: @escaping SessionBody<Value>) async throws(StoreError) -> Value {
        try await pool.run { [requirements] connection throws(PostgresFailure) in
            try connection.transact(.reading, under: requirements, body)
        }
    }

    package func write<Value: Sendable>(
        locking keys: [LockKey], _ body: @escaping SessionBody<Value>
    ) async throws(StoreError) -> Value {
        let keys = AdvisoryKeys(keys.map(\.text), schema: address.schema)
        return try await pool.run { [requirements] connection throws(PostgresFailure) in
            try connection.transact(.writing(keys), under: requirements, body)
        }
    }

    package func writeAlone<Value: Sendable>(_ body: @escaping SessionBody<Value>) async throws(StoreError) -> Value {
        try await pool.run { [requirements] connection throws(PostgresFailure) in
            try connection.transact(.alone, under: requirements, body)
        }
    }

    package func close() async throws(StoreError) {
        await pool.close()
        await lookups.close()
    }
}
