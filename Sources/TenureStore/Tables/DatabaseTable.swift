/// One table of the database: its columns and keys, for dumps, checks and copies.
///
/// There is no hand-written list of tables. `all()` runs the migrations on an empty database in memory and reads the
/// schema. SQLite and PostgreSQL have the same tables and columns.
package struct DatabaseTable: Sendable, Hashable {
    /// A column of a table.
    package struct Column: Sendable, Hashable {
        package let name: String
        /// SQLite's name of the type: INTEGER, TEXT, BLOB or REAL.
        package let type: String
        /// The name of the table that the column refers to; nil if it refers to none.
        let references: String?
    }

    package let name: String
    package let columns: [Column]
    /// The positions of the primary key's columns in `columns`, in the key's order. Empty for a table of one row.
    let key: [Int]
    /// Whether the key is a row ID, a number that the database assigns.
    let isNumbered: Bool

    /// The position of the column with the row ID of the customer to whom the row belongs. Nil if the table has no such
    /// column, and for the table of customers.
    var ownerColumn: Int? { name == Self.customers ? nil : columns.firstIndex { $0.references == Self.customers } }

    /// The table of customers.
    static let customers = "customers"
    /// The table with one row: the database's ID, and the bundle ID of its app.
    static let databaseID = "database"
    /// The table with one row that says which releases may use the database. The row isn't part of the content.
    static let state = "database_state"

    /// Returns all tables of content: all except `database_state` and `migrations`, which doesn't exist in memory. A
    /// table comes after the tables that it refers to.
    package static func all() throws(StoreError) -> [DatabaseTable] {
        let connection = try SQLiteConnection(path: ":memory:", for: .creating)
        for migration in Migration.all {
            try migration.run(for: .sqlite) { statements throws(StoreError) in try connection.runAll(statements) }
        }
        let names = try connection.tables().subtracting([state]).sorted()
        return try inOrder(try names.map { name throws(StoreError) in try DatabaseTable(named: name, in: connection) })
    }

    /// Reads the columns and keys of a table from its schema.
    private init(named name: String, in connection: SQLiteConnection) throws(StoreError) {
        // The table to which each column refers. Foreign keys of several columns are left out.
        var parents: [String: String] = [:]
        for key in try connection.rows(
            "SELECT \"from\", \"table\" FROM pragma_foreign_key_list($1) GROUP BY id HAVING count(*) = 1", [.text(name)]
        ) {
            parents[try key.text(0)] = try key.text(1)
        }
        let rows = try connection.rows("SELECT name, type, pk FROM pragma_table_info($1) ORDER BY cid", [.text(name)])
        let columns = try rows.map { row throws(StoreError) in
            Column(name: try row.text(0), type: try row.text(1), references: parents[try row.text(0)])
        }
        // The position of each column in the primary key, from 1; 0 if it isn't part of the key.
        let keyPositions = try rows.map { row throws(StoreError) in try row.integer(2) }
        self.name = name
        self.columns = columns
        key = columns.indices.filter { keyPositions[$0] > 0 }.sorted { keyPositions[$0] < keyPositions[$1] }
        isNumbered = key.count == 1 && columns[key[0]].type == "INTEGER"
    }

    /// Sorts tables so that each comes after the other tables that it refers to. A table may also refer to itself.
    private static func inOrder(_ tables: [DatabaseTable]) throws(StoreError) -> [DatabaseTable] {
        var waiting = tables
        var ordered: [DatabaseTable] = []
        while !waiting.isEmpty {
            let done = Set(ordered.map(\.name))
            let next = waiting.firstIndex { table in
                table.columns.compactMap(\.references).allSatisfy { done.contains($0) || $0 == table.name }
            }
            guard let next else { throw .defect("the tables of the database refer to each other in a circle") }
            ordered.append(waiting.remove(at: next))
        }
        return ordered
    }

    /// All columns, for a `SELECT` or an `INSERT`. The names are quoted, because some are SQL keywords.
    var columnList: String { Self.list(columns.map(\.name)) }

    /// The key's columns, quoted like those of `columnList`.
    var keyList: String { Self.list(key.map { columns[$0].name }) }

    private static func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }

    /// The position of the column that refers to the same table, if there is one.
    var selfReference: Int? { columns.firstIndex { $0.references == name } }
}
