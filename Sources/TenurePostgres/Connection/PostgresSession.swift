import TenureStore

/// A connection inside a transaction. A session exists as long as its transaction, on the connection's queue.
final class PostgresSession: DatabaseSession {
    let dialect = SQLDialect.postgres
    private let connection: PostgresConnection
    /// The first failure, which ends the whole transaction, even if the caller catches the failure.
    private(set) var failure: PostgresFailure?

    init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    func rows(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> [SQLRow] {
        try keepingFailure { () throws(PostgresFailure) in try connection.rows(sql, arguments) }
    }

    @discardableResult func execute(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int {
        try keepingFailure { () throws(PostgresFailure) in try connection.execute(sql, arguments) }
    }

    func allowLongStatements() throws(StoreError) {
        try keepingFailure { () throws(PostgresFailure) in try connection.allowLongStatements() }
    }

    /// Makes a call and keeps its failure. Throws the first failure again if the transaction has failed already.
    private func keepingFailure<Value>(_ call: () throws(PostgresFailure) -> Value) throws(StoreError) -> Value {
        if let failure { throw failure.error }
        do {
            return try call()
        } catch {
            failure = error
            throw error.error
        }
    }
}
