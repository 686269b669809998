/// The statements of one transaction.
package typealias SessionBody<Value> = @Sendable (any DatabaseSession) throws(StoreError) -> Value
/// What `Database.forEachCustomer` calls for each customer, with the code of the customer's `Realm`, the public ID, and
/// the facts in `FactsFormat`.
package typealias EncodedCustomerBody =
    (UInt8, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Void

/// A database that runs transactions. `Store` adds everything that the service needs.
package protocol Database: Sendable {
    /// 16 random bytes that were created with the database. Access tokens contain them, so a token of another database
    /// is invalid.
    var id: [UInt8] { get }

    /// Runs one transaction that reads one state of the database, without waiting for writers.
    func read<Value: Sendable>(_ body: @escaping SessionBody<Value>) async throws(StoreError) -> Value

    /// Runs one transaction that writes. When this returns, the database has flushed all of it; when it throws, nothing
    /// changed.
    ///
    /// Transactions with a key in common run one after the other. `body` may run again, because PostgreSQL repeats a
    /// transaction that conflicts with another.
    func write<Value: Sendable>(
        locking keys: [LockKey], _ body: @escaping SessionBody<Value>
    ) async throws(StoreError) -> Value

    /// Runs one transaction that writes while no other process and no other task writes. Unlike `write`, it works even
    /// after the content was moved to another database (`StoreError.moved`).
    func writeAlone<Value: Sendable>(_ body: @escaping SessionBody<Value>) async throws(StoreError) -> Value

    /// Returns the customer with this row ID. If this customer was merged into another one, returns that customer, who
    /// has another row ID. Returns nil if there is no such customer.
    ///
    /// `sentEntitlements` (what webhooks last reported) may be missing, because requests that only look up a customer
    /// don't need it.
    ///
    /// Every request looks up a customer, so databases run look-ups on separate connections.
    func lookUp(_ id: Int64) async throws(StoreError) -> Customer?

    /// Looks up a customer as `lookUp` does, but without suspending the task. Nil if the database is a server, because
    /// its response takes a while.
    var lookUpNow: (@Sendable (Int64) throws(StoreError) -> Customer?)? { get }

    /// Calls `body` for the customers with row IDs above `id`, up to `last`, in the order of their row IDs.
    ///
    /// Skips customers that were merged into others, and unbound customers (`DatabaseTransaction`). The pointers are
    /// valid until `body` returns.
    func forEachCustomer(after id: Int64, through last: Int64, _ body: EncodedCustomerBody) async throws(StoreError)

    /// How the connections to a database server are used at this moment; empty for a file.
    var connectionPools: [ConnectionPoolUsage] { get }

    /// Checks whether the database's file was replaced since it was opened. A service asks every second.
    ///
    /// - Returns: what happened and what an operator has to do; nil if the file is in place, or the database is a
    ///   server.
    func replacementReport() async -> String?

    /// Removes from SQLite's write-ahead log what isn't in the database anymore, such as erased rows. A service calls
    /// this every half minute.
    ///
    /// - Returns: whether the log is empty now. False while a reader still needs the log: call this again later. Always
    ///   true for a server.
    func clearLog() async -> Bool

    /// Closes all connections. The database can't be used afterward.
    func close() async throws(StoreError)
}

extension Database {
    package func lookUp(_ id: Int64) async throws(StoreError) -> Customer? {
        try await read { session throws(StoreError) in try DatabaseTransaction(session).customer(id) }
    }

    package var lookUpNow: (@Sendable (Int64) throws(StoreError) -> Customer?)? { nil }

    package var connectionPools: [ConnectionPoolUsage] { [] }

    package func replacementReport() async -> String? { nil }

    package func clearLog() async -> Bool { true }

    package func forEachCustomer(
        after id: Int64, through last: Int64, _ body: EncodedCustomerBody
    ) async throws(StoreError) {
        let rows = try await read { session throws(StoreError) in
            try session.rows(DatabaseTransaction.customersInRange, [.integer(id), .integer(last)])
        }
        for row in rows {
            let realm = UInt8(clamping: try row.integer(0))
            let (publicID, facts) = (Array(try row.text(1).utf8), try row.bytes(2))
            try publicID.withUnsafeBufferPointer { publicID throws(StoreError) in
                try facts.withUnsafeBufferPointer { facts throws(StoreError) in
                    try body(realm, UnsafeRawBufferPointer(publicID), UnsafeRawBufferPointer(facts))
                }
            }
        }
    }
}

/// What a look-up finds under a customer's row ID.
package enum LookedUpCustomer: Sendable {
    case notFound
    case customer(Customer)
    /// The row ID of the customer into whom this one was merged. An erased customer is merged into itself.
    case another(Int64)
    /// The customer must be read in a transaction, because a published policy still has promises (`StoredPromise`) to
    /// end or to restore; see `DatabaseTransaction.applying`.
    case awaitsPublication
}

/// How many connections to a database server are open for one purpose, and how many operations wait for a connection.
package struct ConnectionPoolUsage: Sendable {
    /// What the connections are used for.
    package enum Purpose: String, Sendable {
        case transactions
        /// Looking up customers by row ID.
        case lookups
    }

    package let purpose: Purpose
    /// The number of open connections to this database with this role. Apps with the same database and role share
    /// them.
    package let open: Int
    /// The maximum number of connections for this purpose that this process opens to the server, for all apps together.
    package let limit: Int
    /// The number of this app's operations that wait for a connection.
    package let waiting: Int

    package init(_ purpose: Purpose, open: Int, limit: Int, waiting: Int) {
        self.purpose = purpose
        self.open = open
        self.limit = limit
        self.waiting = waiting
    }
}
