import Foundation
import TenureJSON
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
        try transact(transaction, under: requirements) { () throws(PostgresFailure) in try inSession(body) }
    }

    /// Runs a part of a transaction that uses a session. Throws the session's failure, even if `body` catches it.
    func inSession<Value>(_ body: (any DatabaseSession) throws(StoreError) -> Value) throws(PostgresFailure) -> Value {
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

    /// Like the other `transact`, but `body` uses the connection itself instead of a session.
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
        // `begin` and `allowLongStatements` may raise the timeout for this transaction.
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
        _ = try rows("SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '10s', true)")
    }

    /// Commits. Throws unless the server confirms the commit. If commits wait for a standby, the standby must have the
    /// transaction, too.
    private func commit(_ transaction: Transaction) throws(PostgresFailure) {
        warnings.clear()
        if case .writing = transaction { cancelsAfter = Self.commitTimeout }
        defer { cancelsAfter = nil }
        do throws(PostgresFailure) {
            // This statement makes the commit wait for the standby even if the transaction wrote nothing: it may have
            // read a change that no standby has yet.
            let message =
                "SELECT pg_logical_emit_message(true, 'tenure', '') WHERE pg_current_xact_id_if_assigned() IS NULL; "
            let waits = if case .writing = transaction { server.hasSynchronousStandby } else { false }
            let command = try run(waits ? message + "COMMIT" : "COMMIT").command
            // If the transaction has failed, the server answers COMMIT with `ROLLBACK`.
            guard command == "COMMIT"
            else { throw PostgresFailure(.failed("the server didn't commit the transaction")) }
        } catch {
            rollBack()
            guard isLost, transaction.writes else { throw error }
            // The server may or may not have committed. Clients repeat their requests, and a repeated request changes
            // nothing.
            let detail = "the connection was lost during the commit, so the transaction may or may not be committed"
            throw PostgresFailure(.unreachable(database: address.description, detail: detail))
        }
        // The server committed, but stopped waiting for the standby: a failover could lose the transaction.
        guard transaction.writes, let warning = warnings.last else { return }
        throw PostgresFailure(
            .unreachable(database: address.description, detail: "the server didn't confirm the commit: \(warning)"))
    }

    /// Rolls back an open transaction. If that fails, the worker closes the connection, which also ends the
    /// transaction.
    private func rollBack() {
        guard isInTransaction else { return }
        _ = try? run("ROLLBACK")
    }
}

/// Begins transactions.
extension PostgresConnection {
    /// The kind of a transaction, which decides its isolation, its locks and its timeouts.
    enum Transaction {
        /// All statements read the same state of the database.
        case reading
        /// One statement that looks up customers by row ID.
        case lookingUp
        /// A transaction that writes. Those with a key in common run one after the other.
        case writing(AdvisoryKeys)
        /// A transaction that writes while no other transaction writes, in any process. It waits until running
        /// transactions have ended.
        case alone

        var writes: Bool { use != .reading }

        fileprivate var use: DatabaseRequirements.Use {
            switch self {
            case .reading, .lookingUp: .reading
            case .writing: .writing
            case .alone: .maintaining
            }
        }
    }

    /// Begins a transaction, sets everything that it needs, takes its locks, and reads the database's header, in one
    /// message.
    ///
    /// - Parameter requirements: what the process requires of the database; nil while the process opens the database.
    func begin(_ transaction: Transaction, under requirements: DatabaseRequirements?) throws(PostgresFailure) {
        if case .alone = transaction { answerTimeout = .seconds(24 * 3600) }
        guard let requirements else {
            try run(beginning(of: transaction))
            return
        }
        // The last statement reads the header. So the header includes what other transactions committed during the wait
        // for locks.
        let answer = try run(beginning(of: transaction) + "; \(Self.header)")
        if let objection = requirements.objection(to: try DatabaseHeader(answer), for: transaction.use) {
            throw PostgresFailure(objection)
        }
    }

    /// The statements that begin a transaction.
    ///
    /// Settings are for this transaction only: with a pooler, the next one runs on another connection, and other
    /// clients use this connection. The explicit access mode overrides `default_transaction_read_only`.
    private func beginning(of transaction: Transaction) -> String {
        // `idle_in_transaction_session_timeout` releases the locks of a process that hangs. The timeouts for locks and
        // statements are shorter than `answerTimeout`, so a slow server still answers in time.
        let settings = """
            ; SET LOCAL search_path = "\(address.schema)", pg_temp; SET LOCAL standard_conforming_strings = on\
            ; SET LOCAL client_min_messages = warning; SET LOCAL jit = off; SET LOCAL lock_timeout = '2500ms'\
            ; SET LOCAL statement_timeout = '4s'; SET LOCAL idle_in_transaction_session_timeout = '60s'
            """
        let durability = "; SET LOCAL synchronous_commit = \(server.synchronousCommit)"
        switch transaction {
        case .reading: return "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" + settings
        case .lookingUp:
            // The server plans the look-up only once. These settings make the plan use the index even if the table is
            // still small at that time.
            return "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY" + settings
                + """
                ; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off\
                ; SET LOCAL enable_bitmapscan = off
                """
        case .writing(let keys):
            return "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE" + settings + durability + keys.statements
        case .alone:
            return "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE" + settings + durability
                + "; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0"
                + "; SELECT pg_advisory_xact_lock(\(AdvisoryKeys.writers(in: address.schema)))"
        }
    }

    /// Reads the database's header. The server sends the columns as text, because the message has several statements.
    private static let header =
        "SELECT encode(id, 'base64'), bundle_id, version, oldest_writer, oldest_reader, moved_to FROM database, database_state"
}

extension DatabaseHeader {
    fileprivate init(_ answer: PostgresAnswer) throws(PostgresFailure) {
        func text(_ column: Int) -> String? { answer.bytes(0, column).map { String(decoding: $0, as: UTF8.self) } }
        guard let id = text(0).flatMap({ Base64.standard.decode($0) }), let version = text(2).flatMap({ Int($0) }),
            let writer = text(3).flatMap({ Int($0) }), let reader = text(4).flatMap({ Int($0) })
        else { throw PostgresFailure(.damaged("the database's header is invalid")) }
        self.init(
            id: id, bundleID: text(1), version: version, oldestWriter: writer, oldestReader: reader, movedTo: text(5))
    }
}
