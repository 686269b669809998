import GRDB

/// One table of the database, as dumps, checks and copies need to know it.
///
/// No second list of tables exists. `all()` runs the migrations on an empty database in memory and reads its schema.
/// Both databases have the same tables and columns.
package struct DatabaseTable: Sendable, Hashable {
    package struct Column: Sendable, Hashable {
        package let name: String
        /// SQLite's name of the type: INTEGER, TEXT, BLOB or REAL.
        package let type: String
        /// The table that the column refers to, if any.
        package let references: String?
    }

    package let name: String
    package let columns: [Column]
    /// The positions of the key's columns in `columns`, in the key's order. Empty for a table of one row.
    package let key: [Int]
    /// Whether the database gives each row its number.
    package let isNumbered: Bool

    /// The position of the column that names the customer that the row belongs to, if the table has one.
    package var owner: Int? {
        name == Self.customers ? nil : columns.firstIndex { $0.references == Self.customers }
    }

    static let customers = "customers"
    /// The table with one row that holds the database's ID.
    static let identity = "database"
    /// The table with one row that says which releases may use the database. It isn't part of the content.
    static let state = "database_state"

    /// Returns all tables with content. A table comes after those that it refers to.
    package static func all() throws(StoreError) -> [DatabaseTable] {
        do {
            let queue = try DatabaseQueue()
            let tables = try queue.write { db in
                for migration in Migration.all { try migration.run(on: db) }
                return try String.fetchAll(
                    db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
                ).filter { $0 != state }.sorted().map { try DatabaseTable(named: $0, in: db) }
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

    /// Sorts tables so that each comes after those that it refers to. A table may refer to itself.
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
            guard let next else { throw .failed("the tables of the database refer to each other in a circle") }
            ordered.append(next)
            waiting.removeAll { $0.name == next.name }
        }
        return ordered
    }
}

extension DatabaseTable {
    /// All columns, for a `SELECT` or an `INSERT`. The names are quoted, because some are SQL keywords.
    var columnList: String { Self.list(columns.map(\.name)) }

    var keyList: String { Self.list(key.map { columns[$0].name }) }

    private static func list(_ names: [String]) -> String {
        names.map { "\"\($0)\"" }.joined(separator: ", ")
    }

    /// The position of the column that refers to the same table, if there is one.
    var selfReference: Int? { columns.firstIndex { $0.references == name } }
}
