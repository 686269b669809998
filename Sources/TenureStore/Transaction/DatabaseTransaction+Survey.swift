import Foundation
import TenureCore

/// What a publication must know of everybody, and of whoever changes while it looks.
extension DatabaseTransaction {
    /// The next customers of production, by number; those left out who turned out to be another.
    package func survey(after id: Int64, limit: Int) throws(StoreError) -> [SurveyedCustomer] {
        try session.allowLongStatements()
        let rows = try session.rows(
            """
            SELECT \(Customer.columns), \(Self.unboundColumn) FROM customers
            WHERE id > $1 AND merged_into IS NULL AND realm IN (\(Self.productionRealms)) ORDER BY id LIMIT $2
            """, [.integer(id), SQLValue(limit)])
        return try rows.map { row throws(StoreError) in
            SurveyedCustomer(customer: try Customer(row), isUnbound: try row.integer(7) != 0, restored: [])
        }
    }

    /// Nil for who is not there, turned out to be another, or is not of production.
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

    /// 1 where that customer is a visitor.
    private static func unboundColumn(of customer: String) -> String {
        """
        CASE WHEN \(isUnbound(customer)) THEN 1 ELSE 0 END
        """
    }

    /// The condition under which that customer is a visitor.
    private static func isUnbound(_ customer: String) -> String {
        """
        EXISTS (
            SELECT 1 FROM identities WHERE identities.customer = \(customer)
            AND identities.kind = \(Identity.Kind.unbound.rawValue)
        )
        """
    }

    /// Rule I: test environments have neither eras nor promises.
    private static let productionRealms = [false, true]
        .map { String(Realm(.production, isTest: $0).code) }.joined(separator: ", ")

    /// Until the transaction ends nobody changes what is known of a customer: who does has the customers' rows first.
    func keepWritersAway() throws(StoreError) {
        guard session.dialect == .postgres else { return }  // A writing transaction is alone.
        try session.execute("LOCK TABLE customers IN EXCLUSIVE MODE")
    }

    /// How far the ledger has come, with nobody at work.
    package func position() throws(StoreError) -> DatabasePosition {
        try session.allowLongStatements()
        try keepWritersAway()
        var last: [String: DatabasePosition.Row] = [:]
        for table in Self.telling { last[table] = try lastRow(of: table) }
        let unfinished = try membersOfUnfinishedUpdates()
        for table in [Self.customersTable, Self.auditTable] {
            let number = try session.row("SELECT coalesce(max(id), 0) FROM \(table)")?.integer(0) ?? 0
            last[table] = DatabasePosition.Row(id: number, customer: nil)
        }
        return DatabasePosition(last: last, unfinished: unfinished)
    }

    /// Whatever changes what is known of a customer leaves a row in one of these.
    private static let telling = [artifactsTable, "notifications", "promises", "support_grants", "events"]
    private static let artifactsTable = "artifacts"
    private static let customersTable = "customers"
    private static let auditTable = "audit"
    private static let eventsTable = "events"

    /// The last row that stays. What an unfinished act left may go, and what is being erased goes. What unboundCustomers left goes without an act when newer ones come, and SQLite gives the
    /// number after the highest again: behind a row that stays, whatever comes has a number of its own.
    private func lastRow(of table: String) throws(StoreError) -> DatabasePosition.Row? {
        let condition = table == Self.artifactsTable ? " AND \(Self.counts)" : ""
        var before = Int64.max
        while true {
            // A page of its own, so that no visitor beyond it is looked for.
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

    /// Whether every row since then is still there and tells whom it is about: nobody was erased or parted.
    ///
    /// Who came, was linked or joined meanwhile is looked at again, and holds off nothing.
    func isSettled(since position: DatabasePosition) throws(StoreError) -> Bool {
        let erased = try session.row(
            // A reason that says so has its quotation marks escaped.
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
        for table in Self.telling {
            guard let known = position.last[table] else { continue }
            let row = try session.row("SELECT customer FROM \(table) WHERE id = $1", [.integer(known.id)])
            guard let row, try row.integerIfPresent(0) == known.customer else { return false }
        }
        return true
    }

    /// By number; those in whose place another stands are that other.
    func customersChanged(since position: DatabasePosition) throws(StoreError) -> [Int64] {
        // What was written of these before, the last piece of their act makes count.
        var changed = Set(position.unfinished)
        for table in Self.telling {
            let rows = try session.rows(
                "SELECT DISTINCT customer FROM \(table) WHERE id > $1 AND customer IS NOT NULL",
                [.integer(position.number(in: table))])
            for row in rows { changed.insert(try row.integer(0)) }
        }
        for row in try session.rows(
            "SELECT id FROM customers WHERE id > $1", [.integer(position.number(in: Self.customersTable))])
        { changed.insert(try row.integer(0)) }
        // One who was joined is to be forgotten, and looked at as the other.
        var all = changed
        for id in changed { if let customer = try customer(id) { all.insert(customer.id) } }
        return all.sorted()
    }
}
