/// One connection inside one transaction: all that the ledger asks of a database.
///
/// The statements are the common tongue of SQLite and PostgreSQL: parameters are `$1`, `$2` …, first used in that
/// order; `ON CONFLICT DO NOTHING`.
package protocol DatabaseSession {
    var dialect: SQLDialect { get }

    /// All rows of an answer.
    func rows(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> [SQLRow]

    /// How many rows it changed.
    @discardableResult func execute(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int

    /// Adds a row to a table whose key is `id`, and returns the number that it got; nil where it conflicts with one that
    /// is there.
    func insert(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int64?

    /// Headers whose numbers need not be asked for; nil where nothing is remembered.
    var headers: HeaderNumbers? { get }
}

extension DatabaseSession {
    package func insert(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int64? {
        try row(sql + " RETURNING id", arguments).map { row throws(StoreError) in try row.integer(0) }
    }

    package var headers: HeaderNumbers? { nil }

    package func rows(_ sql: String) throws(StoreError) -> [SQLRow] { try rows(sql, []) }
    package func row(_ sql: String, _ arguments: [SQLValue] = []) throws(StoreError) -> SQLRow? {
        try rows(sql, arguments).first
    }
    @discardableResult package func execute(_ sql: String) throws(StoreError) -> Int { try execute(sql, []) }
}

extension DatabaseSession {
    /// For transactions that wait for others than the database: for a reader of a dump, for another database.
    func allowPauses() throws(StoreError) {
        guard dialect == .postgres else { return }
        _ = try rows("SELECT set_config('idle_in_transaction_session_timeout', '0', true)")
    }
}

package enum SQLDialect: Sendable, Hashable {
    case sqlite
    case postgres

    /// What makes a read wait for, and keep away, other transactions that want to write the row.
    package var forUpdate: String {
        switch self {
        case .sqlite: ""  // A writing transaction is alone.
        case .postgres: " FOR UPDATE"
        }
    }

    /// The same, passing over what another transaction has in hand.
    package var forUpdateOfFree: String {
        switch self {
        case .sqlite: ""
        case .postgres: " FOR UPDATE SKIP LOCKED"
        }
    }
}
