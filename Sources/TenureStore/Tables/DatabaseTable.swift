import GRDB

/// One table of the record: what a dump, a check and a copy must know of it.
///
/// Nobody lists the tables a second time: the migrations are run on an empty database in memory, and it is asked what
/// it holds. Both databases have the same tables and columns.
package struct DatabaseTable: Sendable, Hashable {
    package struct Column: Sendable, Hashable {
        package let name: String
        /// As SQLite calls it: INTEGER, TEXT, BLOB or REAL.
        package let type: String
        /// The table whose key it holds; nil where it refers to nothing.
        package let references: String?
    }

    package let name: String
    package let columns: [Column]
    /// Where the columns of its key stand among `columns`, in the key's order. Empty for a table of one row.
    package let key: [Int]
    /// Whether the database gives each row its number.
    package let isNumbered: Bool

    /// The column that says whose rows they are.
    package var owner: Int? {
        name == Self.customers ? nil : columns.firstIndex { $0.references == Self.customers }
    }

    static let customers = "customers"
    /// The one row that says which record it is.
    static let identity = "database"

    /// All tables, those first to which others refer.
    package static func all() throws(StoreError) -> [DatabaseTable] {
        do {
            let queue = try DatabaseQueue()
            let tables = try queue.write { db in
                for migration in Migration.all { try migration.run(on: db) }
                return try String.fetchAll(
                    db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
                ).sorted().map { try DatabaseTable(named: $0, in: db) }
            }
            return try inOrder(tables)
        } catch {
            throw StoreError(error)
        }
    }

    private init(named name: String, in db: GRDB.Database) throws {
        let keys = try db.foreignKeys(on: name).filter { $0.mapping.count == 1 }
        var parents: [String: String] = [:]
        for key in keys {
            for pair in key.mapping { parents[pair.origin] = key.destinationTable }
        }
        let columns = try db.columns(in: name)
        self.name = name
        self.columns = columns.map { Column(name: $0.name, type: $0.type, references: parents[$0.name]) }
        key = columns.indices.filter { columns[$0].primaryKeyIndex > 0 }
            .sorted { columns[$0].primaryKeyIndex < columns[$1].primaryKeyIndex }
        isNumbered = key.count == 1 && columns[key[0]].type == "INTEGER"
    }

    /// Parents before children; a table may refer to itself.
    private static func inOrder(_ tables: [DatabaseTable]) throws(StoreError) -> [DatabaseTable] {
        var waiting = tables
        var ordered: [DatabaseTable] = []
        while !waiting.isEmpty {
            let done = Set(ordered.map(\.name))
            let next = waiting.first { table in
                table.columns.allSatisfy { column in
                    column.references.map { done.contains($0) || $0 == table.name } ?? true
                }
            }
            guard let next else { throw .failed("the tables of the record refer to each other in a circle") }
            ordered.append(next)
            waiting.removeAll { $0.name == next.name }
        }
        return ordered
    }
}

extension DatabaseTable {
    /// All columns, for a `SELECT` or an `INSERT`. Quoted: some are words of SQL.
    var columnList: String { Self.list(columns.map(\.name)) }

    var keyList: String { Self.list(key.map { columns[$0].name }) }

    private static func list(_ names: [String]) -> String {
        names.map { "\"\($0)\"" }.joined(separator: ", ")
    }

    /// Where a column that refers to the table's own rows stands.
    var selfReference: Int? { columns.firstIndex { $0.references == name } }
}
