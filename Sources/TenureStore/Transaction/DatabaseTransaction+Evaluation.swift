import Foundation
import TenureCore

/// Reads all customers for the publication of a policy, and finds the customers that changed after they were read.
///
/// A *member* is a row of `customers`; a merged customer has several. A *promise* is a right that is stored so that
/// later policies keep it (`StoredPromise`).
extension DatabaseTransaction {
    /// Returns at most `limit` production customers with row IDs above `id`, in the order of their row IDs. Leaves out
    /// customers that were merged into others.
    package func customersToEvaluate(after id: Int64, limit: Int) throws(StoreError) -> [CustomerToEvaluate] {
        try session.allowLongStatements()
        let rows = try session.rows(
            """
            SELECT \(Customer.columns), \(Self.unboundColumn) FROM customers
            WHERE id > $1 AND merged_into IS NULL AND realm IN (\(Self.productionRealms)) ORDER BY id LIMIT $2
            """, [.integer(id), SQLValue(limit)])
        return try rows.map { row throws(StoreError) in
            CustomerToEvaluate(customer: try Customer(row), isUnbound: try row.integer(7) != 0, restored: [])
        }
    }

    /// Returns a customer that changed since the publication's evaluation read it. Nil if the customer doesn't exist,
    /// was merged into another, or isn't from production.
    ///
    /// - Parameter publication: for a rollback, the ID of the publication to which it returns. `restored` of the result
    ///   then has the promises that were ended by later publications. Nil if the publication isn't a rollback.
    package func customerToEvaluate(
        _ id: Int64, restoringAfter publication: Int64?
    ) throws(StoreError) -> CustomerToEvaluate? {
        let row = try session.row(
            """
            SELECT \(Customer.columns), \(Self.unboundColumn) FROM customers
            WHERE id = $1 AND merged_into IS NULL AND realm IN (\(Self.productionRealms))
            """, [.integer(id)])
        guard let row else { return nil }
        var restored: [StoredPromise] = []
        if let publication {
            for member in try group(of: id) { restored += try promises(of: member, endedAfter: publication) }
        }
        let known = try largeFacts?.decoded(try row.bytes(4))
        return CustomerToEvaluate(
            customer: try Customer(row, remembering: known), isUnbound: try row.integer(7) != 0, restored: restored)
    }

    /// An SQL column that is 1 if the customer is unbound (see `DatabaseTransaction`), otherwise 0.
    private static let unboundColumn = "CASE WHEN \(isNotUnbound) THEN 0 ELSE 1 END"

    /// The SQL condition for a row of `customers` that isn't an unbound customer.
    static let isNotUnbound = """
        NOT EXISTS (
            SELECT 1 FROM identities WHERE identities.customer = customers.id
            AND identities.kind = \(Identity.Kind.unbound.rawValue)
        )
        """

    /// The query of `Database.forEachCustomer`, for the realm's code, the public ID and the encoded facts.
    static let customersInRange = """
        SELECT realm, public_id, facts FROM customers WHERE id > $1 AND id <= $2 AND merged_into IS NULL
        AND \(isNotUnbound) ORDER BY id
        """

    /// The codes of the realms that a publication evaluates, for SQL. Only production has eras (rule I1) and promises
    /// (rule H5); see `Docs/decision-rules.md`.
    private static let productionRealms = [false, true]
        .map { String(Realm(.production, isTest: $0).code) }.joined(separator: ", ")

    /// Blocks other writers until the transaction ends. Every writer locks rows of `customers`, so locking that table
    /// is enough.
    func blockWriters() throws(StoreError) {
        guard session.dialect == .postgres else { return }  // SQLite has one writer at a time.
        try session.execute("LOCK TABLE customers IN EXCLUSIVE MODE")
    }

    /// Returns the current position: the row IDs of the last rows of all tables that affect customers. Keeps other
    /// transactions from writing until this transaction ends.
    package func position() throws(StoreError) -> DatabasePosition {
        try session.allowLongStatements()
        try blockWriters()
        var last: [String: Int64] = [:]
        for table in Self.changedTables {
            last[table] = try session.row("SELECT max(id) FROM \(table)")?.integerIfPresent(0)
        }
        // The members with artifacts that don't count: those of an update that isn't finished, and those of a customer
        // that is being erased.
        let unfinishedMembers = try session.integers("SELECT DISTINCT customer FROM unfinished_updates")
        return DatabasePosition(last: last, unfinishedMembers: unfinishedMembers)
    }

    /// Every change of a customer leaves a row in one of these tables.
    private static let changedTables = [
        "artifacts", "notifications", "promises", "support_grants", "events", DatabaseTable.customers, "tombstones",
    ]

    /// Stores a *tombstone* for each of these members: a row that shows that their customer was erased or split. No
    /// other row shows that. A publication that is being prepared then evaluates the customer again.
    func recordTombstones(_ members: [Int64]) throws(StoreError) {
        for member in members {
            try session.execute(
                "INSERT INTO tombstones (customer, at) VALUES ($1, $2)", [.integer(member), milliseconds])
        }
    }

    /// Returns the customers that changed since a position. Keeps other transactions from writing until this
    /// transaction ends.
    package func changes(since position: DatabasePosition) throws(StoreError) -> ChangedCustomers {
        let newPosition = try self.position()
        // The last transaction of a large update may have made artifacts count that were stored before the position.
        var changed = Set(position.unfinishedMembers)
        for table in Self.changedTables {
            let column = table == DatabaseTable.customers ? "id" : "customer"
            let ids = try session.integers(
                "SELECT DISTINCT \(column) FROM \(table) WHERE id > $1 AND \(column) IS NOT NULL",
                [.integer(position.last[table] ?? 0)])
            changed.formUnion(ids)
        }
        let customers = Set(try survivors(of: changed).values)
        // The evaluations of all their members are no longer valid: some may have been merged in the meantime.
        for customer in customers { changed.formUnion(try group(of: customer)) }
        return ChangedCustomers(position: newPosition, customers: customers.sorted(), outdatedCustomers: changed)
    }

    /// Whether there are tombstones that no publication needs anymore.
    func hasOldTombstones() throws(StoreError) -> Bool {
        try session.row("SELECT 1 FROM tombstones WHERE at < $1 LIMIT 1", [oldestTombstone]) != nil
    }

    /// Removes the tombstones that no publication needs anymore.
    func removeOldTombstones() throws(StoreError) {
        try session.execute("DELETE FROM tombstones WHERE at < $1", [oldestTombstone])
    }

    /// The time of the oldest tombstone to keep: a day ago. Only publications read tombstones, and no publication takes
    /// a day.
    private var oldestTombstone: SQLValue { SQLValue(now.addingTimeInterval(-86_400)) }
}
