import GRDB
import GRDBSQLite

/// An SQLite connection inside a transaction.
struct SQLiteSession: DatabaseSession {
    private let statements: SQLiteStatements
    let headers: HeaderNumbers?

    /// Creates a session on the only connection that writes, which can remember headers.
    init(_ statements: SQLiteStatements, remembering headers: HeaderNumbers) {
        self.statements = statements
        self.headers = headers
    }

    /// Creates a session on a connection of GRDB, for as long as GRDB provides it.
    init(db: GRDB.Database) throws(StoreError) {
        guard let connection = db.sqliteConnection else { throw .failed("the database is closed") }
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

    /// Inserts without `RETURNING`, for which SQLite would create a temporary table.
    func insert(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int64? {
        try statements.run(sql, arguments)
        return sqlite3_changes(statements.connection) > 0
            ? sqlite3_last_insert_rowid(statements.connection) : nil
    }
}
