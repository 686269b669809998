import TenureStore

extension PostgresConnection {
    enum Transaction {
        /// Sees one state of the database, from its first statement to its last.
        case reading
        /// One statement that looks customers up by their number.
        case lookingUp
        /// Transactions with a key in common run one after the other.
        case writing(AdvisoryKeys)
        /// No other transaction writes meanwhile, in any process. Waits until they have ended.
        case alone

        var writes: Bool {
            switch self {
            case .reading, .lookingUp: false
            case .writing, .alone: true
            }
        }

        fileprivate var use: DatabaseTerms.Use {
            switch self {
            case .reading, .lookingUp: .reading
            case .writing: .writing
            case .alone: .maintaining
            }
        }
    }

    /// Begins a transaction, sets all that it needs, takes its locks, and reads whose database it is, in one message.
    ///
    /// - Parameter terms: what the process requires of the database; nil while it opens it.
    func begin(_ transaction: Transaction, under terms: DatabaseTerms?) throws(PostgresFailure) {
        guard let terms else {
            try run(beginning(of: transaction))
            return
        }
        // The last statement, so that it sees what others committed while this transaction waited for its locks.
        let answer = try run(beginning(of: transaction) + "; \(Self.header)")
        if let objection = terms.objection(to: try DatabaseHeader(answer), for: transaction.use) {
            throw PostgresFailure(objection)
        }
    }

    /// Everything is set for this transaction only: behind a pooler, the next one runs on another connection, and this
    /// connection runs another client's. The explicit access mode overrides `default_transaction_read_only`.
    private func beginning(of transaction: Transaction) -> String {
        // A transaction whose process hangs lets go of its locks.
        let settings = """
            ; SET LOCAL search_path = "\(address.schema)", pg_temp; SET LOCAL standard_conforming_strings = on\
            ; SET LOCAL client_min_messages = error; SET LOCAL jit = off; SET LOCAL lock_timeout = '10s'\
            ; SET LOCAL idle_in_transaction_session_timeout = '60s'
            """
        let durability = "; SET LOCAL synchronous_commit = \(synchronousCommit)"
        // Held by all that write, together or alone. First, so that no transaction waits for it with a key in its hands.
        let lock = AdvisoryKeys.number("migrations", address.schema, "")
        switch transaction {
        case .reading: return "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" + settings
        case .lookingUp:
            // One plan permanently, and never one that was made while the table was small.
            return "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY" + settings
                + """
                ; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off\
                ; SET LOCAL enable_bitmapscan = off
                """
        case .writing(let keys):
            return "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE" + settings + durability
                + "; SELECT pg_advisory_xact_lock_shared(\(lock))" + keys.statements
        case .alone:
            return "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE" + settings + durability
                + "; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(\(lock))"
        }
    }

    /// Answers come as text, because the message has several statements.
    private static let header =
        "SELECT encode(id, 'hex'), bundle_id, version, oldest_writer, oldest_reader, moved_to FROM database, database_state"
}

extension DatabaseHeader {
    fileprivate init(_ answer: PostgresAnswer) throws(PostgresFailure) {
        func text(_ column: Int) -> String? {
            answer.bytes(0, column).map { String(decoding: $0, as: UTF8.self) }
        }
        guard let id = text(0).flatMap(Self.bytes), let version = text(2).flatMap({ Int($0) }),
            let writer = text(3).flatMap({ Int($0) }), let reader = text(4).flatMap({ Int($0) })
        else { throw PostgresFailure(.damaged("the database has no ID")) }
        self.init(
            id: id, bundleID: text(1), version: version, oldestWriter: writer, oldestReader: reader, movedTo: text(5))
    }

    /// Nil if the text isn't hexadecimal.
    private static func bytes(hexadecimal text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text {
            guard let digit = character.hexDigitValue.map({ UInt8($0) }) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }
}
