import Foundation
import TenureStore

/// Runs, commits and repeats transactions.
extension PostgresConnection {
    /// Runs a transaction. If it conflicts with another transaction, repeats it after a short random pause.
    ///
    /// - Parameter requirements: what the process requires of the database; nil while the process opens the database.
    func transact<Value>(
        _ transaction: Transaction, under requirements: DatabaseRequirements? = nil,
        _ body: (any DatabaseSession) throws(StoreError) -> Value
    ) throws(PostgresFailure) -> Value {
        try transact(transaction, under: requirements) { () throws(PostgresFailure) in
            let session = PostgresSession(self)
            let value: Value
            do throws(StoreError) {
                value = try body(session)
            } catch {
                throw session.failure ?? PostgresFailure(error)
            }
            if let failure = session.failure { throw failure }
            return value
        }
    }

    /// Runs a transaction in the same way. `body` uses the connection itself instead of a session.
    func transact<Value>(
        _ transaction: Transaction, under requirements: DatabaseRequirements? = nil,
        _ body: () throws(PostgresFailure) -> Value
    ) throws(PostgresFailure) -> Value {
        var attempt = 0
        while true {
            do {
                return try transactOnce(transaction, requirements, body)
            } catch {
                attempt += 1
                guard case .repeatTransaction = error.remedy, attempt < 12 else { throw error }
                Thread.sleep(forTimeInterval: .random(in: 0...0.002) * Double(1 << min(attempt, 7)))
            }
        }
    }

    /// Begins a transaction, runs `body` and commits. Rolls back if one of these steps fails.
    private func transactOnce<Value>(
        _ transaction: Transaction, _ requirements: DatabaseRequirements?, _ body: () throws(PostgresFailure) -> Value
    ) throws(PostgresFailure) -> Value {
        let value: Value
        let timeout = answerTimeout
        defer { answerTimeout = timeout }
        do {
            try dropStaleStatements()
            try begin(transaction, under: requirements)
            value = try body()
        } catch {
            rollBack()
            guard case .readOnly = error.error, case .reconnect = error.remedy else { throw error }
            guard transaction.writes else {
                throw PostgresFailure(.defect("a transaction that only reads tried to write"))
            }
            // The server was the primary, and is a standby now.
            host.dropConnections()
            throw error
        }
        try commit(transaction)
        return value
    }

    /// Lets each statement of the open transaction take up to a day, and wait up to 10 seconds for a lock.
    func allowLongStatements() throws(PostgresFailure) {
        answerTimeout = .seconds(24 * 3600)
        _ = try rows(
            "SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '10s', true)")
    }

    /// Commits. Throws unless the server confirms the commit. If commits wait for a standby, the standby must have the
    /// transaction, too.
    private func commit(_ transaction: Transaction) throws(PostgresFailure) {
        warnings.clear()
        if case .writing = transaction { cancelsAfter = Self.commitTimeout }
        defer { cancelsAfter = nil }
        do throws(PostgresFailure) {
            let command = try run(statementToWaitForStandby(in: transaction) + "COMMIT").command
            // If the transaction has failed, the server answers COMMIT with `ROLLBACK`.
            guard command == "COMMIT" else {
                throw PostgresFailure(.failed("the server didn't commit the transaction"))
            }
        } catch {
            rollBack()
            guard isLost, transaction.writes else { throw error }
            // The server may or may not have committed. Clients repeat their requests, and a repeated request changes
            // nothing.
            throw PostgresFailure(
                .unreachable(
                    database: address.description,
                    detail:
                        "the connection was lost during the commit, so the transaction may or may not be committed"))
        }
        // The server committed, but stopped waiting for the standby: a failover could lose the transaction.
        guard transaction.writes, let warning = warnings.last else { return }
        throw PostgresFailure(
            .unreachable(database: address.description, detail: "the server didn't confirm the commit: \(warning)"))
    }

    /// Returns a statement that makes the commit wait for the standby even if the transaction wrote nothing: it may
    /// have read a change that no standby has yet. Returns an empty string if commits don't wait for a standby.
    private func statementToWaitForStandby(in transaction: Transaction) -> String {
        guard server.hasSynchronousStandby, case .writing = transaction else { return "" }
        return "SELECT pg_logical_emit_message(true, 'tenure', '') WHERE pg_current_xact_id_if_assigned() IS NULL; "
    }

    /// Rolls back. If that fails too, the worker closes the connection, which also ends the transaction.
    private func rollBack() {
        guard isInTransaction else { return }
        _ = try? run("ROLLBACK")
    }
}
