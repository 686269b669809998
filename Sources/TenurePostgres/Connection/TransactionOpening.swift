import TenureJSON
import TenureStore

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

        var writes: Bool {
            switch self {
            case .reading, .lookingUp: false
            case .writing, .alone: true
            }
        }

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
        func text(_ column: Int) -> String? {
            answer.bytes(0, column).map { String(decoding: $0, as: UTF8.self) }
        }
        guard let id = text(0).flatMap({ Base64.standard.decode($0) }), let version = text(2).flatMap({ Int($0) }),
            let writer = text(3).flatMap({ Int($0) }), let reader = text(4).flatMap({ Int($0) })
        else { throw PostgresFailure(.damaged("the database's header is invalid")) }
        self.init(
            id: id, bundleID: text(1), version: version, oldestWriter: writer, oldestReader: reader, movedTo: text(5))
    }
}
