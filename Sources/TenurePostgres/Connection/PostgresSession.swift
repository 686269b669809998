import TenureStore

/// A connection inside a transaction. A session exists as long as its transaction, and is used only on the dispatch
/// queue of the connection (`PostgresWorker`).
final class PostgresSession: DatabaseSession {
    let dialect = SQLDialect.postgres
    private let connection: PostgresConnection
    /// The first failure, which ends the whole transaction, even if the caller catches the failure.
    private(set) var failure: PostgresFailure?

    init(_ connection: PostgresConnection) { self.connection = connection }

    func rows(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> [SQLRow] {
        try keepingFailure { () throws(PostgresFailure) in try connection.rows(sql, arguments) }
    }

    @discardableResult func execute(_ sql: String, _ arguments: [SQLValue]) throws(StoreError) -> Int {
        try keepingFailure { () throws(PostgresFailure) in try connection.execute(sql, arguments) }
    }

    func allowLongStatements() throws(StoreError) {
        try keepingFailure { () throws(PostgresFailure) in try connection.allowLongStatements() }
    }

    /// Makes a call, and stores its failure in `failure`. If an earlier call has failed, throws that failure again
    /// without making the call.
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
