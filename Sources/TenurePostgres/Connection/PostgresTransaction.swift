import Foundation
import TenureStore

extension PostgresConnection {
    enum Transaction {
        /// One state of the record, from its first statement to its last.
        case reading
        /// Acts with a key in common happen one after the other.
        case writing(AdvisoryKeys)

        fileprivate var beginning: String {
            switch self {
            case .reading: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            case .writing(let keys): "BEGIN ISOLATION LEVEL READ COMMITTED" + keys.statements
            }
        }

        fileprivate var writes: Bool {
            switch self {
            case .reading: false
            case .writing: true
            }
        }
    }

    /// Repeats what another transaction was in the way of, after a short pause that is never the same twice.
    func transact<Value>(
        _ transaction: Transaction, _ body: (any DatabaseSession) throws(StoreError) -> Value
    ) throws(PostgresFailure) -> Value {
        var attempt = 0
        while true {
            do {
                return try transactOnce(transaction, body)
            } catch {
                attempt += 1
                guard case .repeatAct = error.remedy, attempt < 12 else { throw error }
                Thread.sleep(forTimeInterval: .random(in: 0...0.002) * Double(1 << min(attempt, 7)))
            }
        }
    }

    private func transactOnce<Value>(
        _ transaction: Transaction, _ body: (any DatabaseSession) throws(StoreError) -> Value
    ) throws(PostgresFailure) -> Value {
        let session = PostgresSession(self)
        let value: Value
        do {
            try dropStaleStatements()
            try run(transaction.beginning)
        } catch {
            rollBack()
            throw error
        }
        do {
            value = try body(session)
        } catch {
            rollBack()
            throw session.failure ?? PostgresFailure(error)
        }
        if let failure = session.failure {
            rollBack()
            throw failure
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
