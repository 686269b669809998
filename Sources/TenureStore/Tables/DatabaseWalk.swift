/// Reads the whole database in the order in which `tenure database dump` prints it. The order depends only on the
/// content, so equal databases have equal dumps.
///
/// The rows of tables without a customer column come first, table by table. Then come the customers by public ID, each
/// with all of their rows. Rows with an empty customer column come last.
package struct DatabaseWalk {
    private let session: any DatabaseSession
    private let tables: [DatabaseTable]

    /// One row of a table. In columns that refer to customers, public IDs replace the row IDs.
    package struct Entry: Sendable, Hashable {
        package let table: DatabaseTable
        package let values: [SQLValue]
    }

    /// Prepares to read everything in the session's transaction.
    package init(_ session: any DatabaseSession) throws(StoreError) {
        self.session = session
        try session.allowPauses()
        tables = try DatabaseTable.all()
    }

    package var tableNames: [String] { tables.map(\.name) }

    /// Calls `body` for each row of all tables. At most a few pages of rows are in memory.
    package func eachEntry(_ body: (Entry) throws(StoreError) -> Void) throws(StoreError) {
        let byName = tables.sorted { $0.name < $1.name }
        for table in byName where table.ownerColumn == nil && table.name != DatabaseTable.customers {
            try eachRow(of: table, body)
        }
        try eachCustomer(with: byName.filter { $0.ownerColumn != nil }, body)
        for table in byName {
            guard let ownerColumn = table.ownerColumn else { continue }
            let hasNoOwner = "\"\(table.columns[ownerColumn].name)\" IS NULL"
            try table.eachPage(in: session, where: hasNoOwner) { rows throws(StoreError) in
                for row in rows { try body(try entry(row, of: table)) }
            }
        }
    }

    /// Calls `body` for each row of a table without a customer column, sorted by key.
    private func eachRow(of table: DatabaseTable, _ body: (Entry) throws(StoreError) -> Void) throws(StoreError) {
        if table.isNumbered || table.key.isEmpty {
            return try table.eachPage(in: session) { rows throws(StoreError) in
                for row in rows { try body(try entry(row, of: table)) }
            }
        }
        // SQLite and PostgreSQL order text differently, so rows with a text key are sorted here, in memory. These
        // tables are small, because their rows belong to no customer.
        var all: [SQLRow] = []
        try table.eachPage(in: session) { all += $0 }
        for row in table.sorted(all) { try body(try entry(row, of: table)) }
    }

    /// Calls `body` for each customer, sorted by public ID, and then for all rows that belong to this customer. Reads a
    /// batch of customers at a time.
    ///
    /// - Parameter tables: the tables with rows that belong to customers.
    private func eachCustomer(
        with tables: [DatabaseTable], _ body: (Entry) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let customers = self.tables.first(where: { $0.name == DatabaseTable.customers }),
            let publicID = customers.columns.firstIndex(where: { $0.name == "public_id" })
        else { return }
        var last = ""
        while true {
            // Both databases compare public IDs byte by byte.
            let rows = try session.rows(
                """
                SELECT \(customers.columnList) FROM customers WHERE public_id > $1 ORDER BY public_id
                LIMIT \(DatabaseTable.batchSize)
                """, [.text(last)])
            let publicIDs = try rows.map { row throws(StoreError) in try row.text(publicID) }
            guard let end = publicIDs.last else { return }
            last = end
            let rowIDs = try rows.map { row throws(StoreError) in try row.integer(customers.key[0]) }
            let known = Dictionary(zip(rowIDs, publicIDs)) { $1 }
            var entries: [Int64: [Entry]] = [:]
            for (rowID, row) in zip(rowIDs, rows) { entries[rowID] = [try entry(row, of: customers, known)] }
            for table in tables {
                try table.rows(of: rowIDs, in: session) { customer, row throws(StoreError) in
                    entries[customer, default: []].append(try entry(row, of: table, known))
                }
            }
            for entry in rowIDs.flatMap({ entries[$0] ?? [] }) { try body(entry) }
        }
    }

    /// Returns a row with the public IDs of customers in place of their row IDs. `known` has the public IDs of the
    /// current batch, by row ID.
    private func entry(
        _ row: SQLRow, of table: DatabaseTable, _ known: [Int64: String] = [:]
    ) throws(StoreError) -> Entry {
        var values = row.values
        for (index, column) in table.columns.enumerated() where column.references == DatabaseTable.customers {
            guard case .integer(let rowID) = values[index] else { continue }
            if let publicID = known[rowID] {
                values[index] = .text(publicID)
                continue
            }
            let found = try session.row("SELECT public_id FROM customers WHERE id = $1", [.integer(rowID)])
            // A row ID without a customer stays unchanged; `tenure database check` reports it.
            if let found { values[index] = .text(try found.text(0)) }
        }
        return Entry(table: table, values: values)
    }
}
