import Foundation
import TenureStore

extension PostgresConnection {
    /// Repeats a transaction that another one blocked, after a short random pause.
    func transact<Value>(
        _ transaction: Transaction, under terms: DatabaseTerms? = nil,
        _ body: (any DatabaseSession) throws(StoreError) -> Value
    ) throws(PostgresFailure) -> Value {
        try transact(transaction, under: terms) { () throws(PostgresFailure) in
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

    /// The same for statements on the connection itself.
    func transact<Value>(
        _ transaction: Transaction, under terms: DatabaseTerms? = nil, _ body: () throws(PostgresFailure) -> Value
    ) throws(PostgresFailure) -> Value {
        var attempt = 0
        while true {
            do {
                return try transactOnce(transaction, terms, body)
            } catch {
                attempt += 1
                guard case .repeatAct = error.remedy, attempt < 12 else { throw error }
                Thread.sleep(forTimeInterval: .random(in: 0...0.002) * Double(1 << min(attempt, 7)))
            }
        }
    }

    private func transactOnce<Value>(
        _ transaction: Transaction, _ terms: DatabaseTerms?, _ body: () throws(PostgresFailure) -> Value
    ) throws(PostgresFailure) -> Value {
        let value: Value
        do {
            try dropStaleStatements()
            try begin(transaction, under: terms)
            value = try body()
        } catch {
            rollBack()
            throw error
        }
        try commit(transaction)
        return value
    }

    private func commit(_ transaction: Transaction) throws(PostgresFailure) {
        do throws(PostgresFailure) {
            let command = try run("COMMIT").command
            // What it says of a transaction in which something failed is `ROLLBACK`.
            guard command == "COMMIT" else { throw PostgresFailure(.failed("the server did not commit the act")) }
        } catch {
            rollBack()
            guard isLost, transaction.writes else { throw error }
            // It may have happened: whoever asked has to ask again, and acts that are repeated change nothing.
            throw PostgresFailure(
                .unreachable(
                    database: address.description,
                    detail: "the connection was lost before it said whether the act was kept"))
        }
    }

    /// A connection that cannot even do that is dropped by its worker, which ends the transaction too.
    private func rollBack() {
        guard !isLost, !isIdle else { return }
        _ = try? run("ROLLBACK")
    }
}
