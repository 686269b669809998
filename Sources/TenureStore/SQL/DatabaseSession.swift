/// One connection inside one transaction: everything that `DatabaseTransaction` needs from a database.
///
/// Statements use the SQL that SQLite and PostgreSQL share. Parameters are `$1`, `$2` …, numbered in the order in which
/// the statement first uses them. Inserts that may meet an existing row use `ON CONFLICT DO NOTHING`.
package protocol DatabaseSession {
    var dialect: SQLDialect { get }

    /// Runs a query and returns all rows.
    func rows(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> [SQLRow]

    /// Runs a statement and returns how many rows it changed.
    @discardableResult func execute(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int

    /// Inserts a row into a table with the key `id`. Returns the row's ID, or nil if it conflicts with another row.
    func insert(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int64?

    /// Lets the statements of this transaction take as long as they need, for publishing policies, reports and copies.
    /// In other transactions on PostgreSQL, statements fail after some seconds, so that no request waits for long.
    func allowLongStatements() throws(StoreError)

    /// A cache of row IDs in the table `headers`, which stores the headers of signed artifacts; nil if the session has
    /// no cache.
    var headers: HeaderRowIDs? { get }
}

extension DatabaseSession {
    package func insert(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int64? {
        try row(sql + " RETURNING id", arguments).map { row throws(StoreError) in try row.integer(0) }
    }

    package var headers: HeaderRowIDs? { nil }

    package func allowLongStatements() throws(StoreError) {}

    package func rows(_ sql: String) throws(StoreError) -> [SQLRow] { try rows(sql, []) }
    /// Returns the first row; nil without rows.
    package func row(_ sql: String, _ arguments: [SQLValue] = []) throws(StoreError) -> SQLRow? {
        try rows(sql, arguments).first
    }
    /// Returns the first column of each row.
    func integers(_ sql: String, _ arguments: [SQLValue] = []) throws(StoreError) -> [Int64] {
        try rows(sql, arguments).map { row throws(StoreError) in try row.integer(0) }
    }
    /// Returns the first column of each row.
    func texts(_ sql: String, _ arguments: [SQLValue] = []) throws(StoreError) -> [String] {
        try rows(sql, arguments).map { row throws(StoreError) in try row.text(0) }
    }
    /// Returns the first column of the first row, such as `count(*)`; 0 without rows.
    func count(_ sql: String, _ arguments: [SQLValue] = []) throws(StoreError) -> Int {
        Int(clamping: try row(sql, arguments)?.integer(0) ?? 0)
    }

    @discardableResult package func execute(_ sql: String) throws(StoreError) -> Int { try execute(sql, []) }

    /// Permits long statements, and long pauses between statements, after which PostgreSQL would end the transaction.
    /// Call it before the transaction waits for another database or for the program that reads a dump.
    func allowPauses() throws(StoreError) {
        guard dialect == .postgres else { return }
        try allowLongStatements()
        _ = try rows("SELECT set_config('idle_in_transaction_session_timeout', '0', true)")
    }
}

/// The kind of database, for statements in which SQLite and PostgreSQL differ.
package enum SQLDialect: Sendable, Hashable {
    case sqlite
    case postgres

    /// The clause that locks the selected rows against other writing transactions until this transaction ends. SQLite
    /// needs no clause, because only one transaction writes at a time.
    var forUpdate: String { self == .sqlite ? "" : " FOR UPDATE" }

    /// Like `forUpdate`, but rows that another transaction has locked are skipped.
    var forUpdateSkippingLocked: String { self == .sqlite ? "" : " FOR UPDATE SKIP LOCKED" }
}
