import GRDB
import GRDBSQLite

/// A connection of SQLite inside a transaction, as the ledger sees it.
struct SQLiteSession: DatabaseSession {
    private let statements: SQLiteStatements
    let headers: HeaderNumbers?

    /// On a connection that writes alone, which may remember what it wrote.
    init(_ statements: SQLiteStatements, remembering headers: HeaderNumbers?) {
        self.statements = statements
        self.headers = headers
    }

    /// On one of GRDB's, for as long as it has it in hand.
    init(db: GRDB.Database) throws(StoreError) {
        guard let connection = db.sqliteConnection else { throw .failed("the record is closed") }
        statements = SQLiteStatements(on: connection)
        headers = nil
    }

    var dialect: SQLDialect { .sqlite }

    func rows(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> [SQLRow] {
        var rows: [SQLRow] = []
        try statements.run(sql, arguments) { statement in
            rows.append(SQLRow((0..<sqlite3_column_count(statement)).map { SQLValue(statement, column: $0) }))
        }
        return rows
    }

    @discardableResult func execute(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int {
        try statements.run(sql, arguments)
        return Int(sqlite3_changes(statements.connection))
    }

    /// Without `RETURNING`, for which SQLite makes a table of its own.
    func insert(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int64? {
        try statements.run(sql, arguments)
        return sqlite3_changes(statements.connection) > 0
            ? sqlite3_last_insert_rowid(statements.connection) : nil
    }
}
