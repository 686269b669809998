import Foundation
import TenureCore

/// Reads all customers for a publication, and finds those that changed since they were read.
extension DatabaseTransaction {
    /// The next production customers, by number, without those that were merged into another.
    package func survey(after id: Int64, limit: Int) throws(StoreError) -> [SurveyedCustomer] {
        let rows = try session.rows(
            """
            SELECT \(Customer.columns), \(Self.unboundColumn) FROM customers
            WHERE id > $1 AND merged_into IS NULL AND realm IN (\(Self.productionRealms)) ORDER BY id LIMIT $2
            """, [.integer(id), SQLValue(limit)])
        return try rows.map { row throws(StoreError) in
            SurveyedCustomer(customer: try Customer(row), isUnbound: try row.integer(7) != 0, restored: [])
        }
    }

    /// Nil if the customer doesn't exist, was merged into another, or isn't from production.
    func surveyed(
        _ id: Int64, restoring restored: [Int64: [StoredPromise]]
    ) throws(StoreError) -> SurveyedCustomer? {
        let row = try session.row(
            """
            SELECT \(Customer.columns), \(Self.unboundColumn) FROM customers
            WHERE id = $1 AND merged_into IS NULL AND realm IN (\(Self.productionRealms))
            """, [.integer(id)])
        return try row.map { row throws(StoreError) in
            SurveyedCustomer(
                customer: try Customer(row), isUnbound: try row.integer(7) != 0, restored: restored[id] ?? [])
        }
    }

    private static let unboundColumn = unboundColumn(of: "customers.id")

    /// The condition for a row of `customers` that is no unbound customer.
    static let isNotUnbound = """
        NOT EXISTS (
            SELECT 1 FROM identities WHERE identities.customer = customers.id
            AND identities.kind = \(Identity.Kind.unbound.rawValue)
        )
        """

    /// A column that is 1 if that customer is unbound, otherwise 0.
    private static func unboundColumn(of customer: String) -> String {
        """
        CASE WHEN \(isUnbound(customer)) THEN 1 ELSE 0 END
        """
    }

    /// The condition that a customer is unbound.
    private static func isUnbound(_ customer: String) -> String {
        """
        EXISTS (
            SELECT 1 FROM identities WHERE identities.customer = \(customer)
            AND identities.kind = \(Identity.Kind.unbound.rawValue)
        )
        """
    }

    /// Only production has eras (rule I1) and promises (rule H5).
    private static let productionRealms = [false, true]
        .map { String(Realm(.production, isTest: $0).code) }.joined(separator: ", ")

    /// Blocks other writers until the transaction ends. Each of them locks rows of `customers` first.
    func keepWritersAway() throws(StoreError) {
        guard session.dialect == .postgres else { return }  // SQLite has one writer at a time.
        try session.execute("LOCK TABLE customers IN EXCLUSIVE MODE")
    }

    /// The last rows of all tables that affect customers, while no other transaction writes.
    package func position() throws(StoreError) -> DatabasePosition {
        try keepWritersAway()
        var last: [String: DatabasePosition.Row] = [:]
        for table in Self.factTables { last[table] = try lastRow(of: table) }
        let unfinished = try membersOfUnfinishedUpdates()
        for table in [Self.customersTable, Self.auditTable] {
            let number = try session.row("SELECT coalesce(max(id), 0) FROM \(table)")?.integer(0) ?? 0
            last[table] = DatabasePosition.Row(id: number, customer: nil)
        }
        return DatabasePosition(last: last, unfinished: unfinished)
    }

    /// The tables in which every change of a customer's facts leaves a row.
    private static let factTables = [artifactsTable, "notifications", "promises", "support_grants", "events"]
    private static let artifactsTable = "artifacts"
    private static let customersTable = "customers"
    private static let auditTable = "audit"
    private static let eventsTable = "events"

    /// The last row that can't be removed without a trace. It skips rows of unfinished updates, of customers being
    /// erased, and of unbound customers, which are removed when newer ones come. SQLite reuses the numbers of removed
    /// rows at the end, so a position behind such a row would miss new ones.
    private func lastRow(of table: String) throws(StoreError) -> DatabasePosition.Row? {
        let condition = table == Self.artifactsTable ? " AND \(Self.counts)" : ""
        var before = Int64.max
        while true {
            // A subquery with a limit, so that the conditions are evaluated for these rows only.
            let rows = try session.rows(
                """
                SELECT id, customer, CASE WHEN \(Self.isUnbound("latest.customer")) OR EXISTS (
                    SELECT 1 FROM customers WHERE customers.id = latest.customer AND customers.merged_into = customers.id
                ) THEN 1 ELSE 0 END FROM (
                    SELECT id, customer FROM \(table) WHERE id < $1\(condition) ORDER BY id DESC LIMIT 50
                ) AS latest ORDER BY id DESC
                """, [.integer(before)])
            for row in rows {
                before = try row.integer(0)
                guard try row.integer(2) == 0 else { continue }
                return DatabasePosition.Row(id: before, customer: try row.integerIfPresent(1))
            }
            if rows.isEmpty { return nil }
        }
    }

    /// Whether all rows up to the position are still there and belong to the same customers: no customer was erased or
    /// split.
    ///
    /// Customers that are new, linked or joined don't matter here: they are evaluated again.
    func isSettled(since position: DatabasePosition) throws(StoreError) -> Bool {
        let erased = try session.row(
            // In a reason with this text, the quotation marks are escaped, so it doesn't match.
            """
            SELECT 1 FROM audit WHERE id > $1 AND action = $2 AND coalesce(detail, '') NOT LIKE '%"refused":%' LIMIT 1
            """, [.integer(position.number(in: Self.auditTable)), .text(CustomerChange.erase.name)])
        guard erased == nil else { return false }
        let kinds: [StoredEvent.Kind] = [.unmerged, .transferred]
        let names = kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        let parted = try session.row(
            "SELECT 1 FROM events WHERE id > $1 AND kind IN (\(names)) LIMIT 1",
            [.integer(position.number(in: Self.eventsTable))])
        guard parted == nil else { return false }
        for table in Self.factTables {
            guard let known = position.last[table] else { continue }
            let row = try session.row("SELECT customer FROM \(table) WHERE id = $1", [.integer(known.id)])
            guard let row, try row.integerIfPresent(0) == known.customer else { return false }
        }
        return true
    }

    /// The customers that changed, by number. A merged customer counts with the one into which it was merged.
    func customersChanged(since position: DatabasePosition) throws(StoreError) -> [Int64] {
        // The last piece of an unfinished update makes earlier rows count.
        var changed = Set(position.unfinished)
        for table in Self.factTables {
            let rows = try session.rows(
                "SELECT DISTINCT customer FROM \(table) WHERE id > $1 AND customer IS NOT NULL",
                [.integer(position.number(in: table))])
            for row in rows { changed.insert(try row.integer(0)) }
        }
        for row in try session.rows(
            "SELECT id FROM customers WHERE id > $1", [.integer(position.number(in: Self.customersTable))])
        { changed.insert(try row.integer(0)) }
        // A merged customer is removed from the survey, and the other one is evaluated again.
        var all = changed
        for id in changed { if let customer = try customer(id) { all.insert(customer.id) } }
        return all.sorted()
    }
}
