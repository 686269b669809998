import CLibPQ
import Foundation
import TenureCore
import TenureStore

/// One connection to PostgreSQL.
///
/// Every call waits for the server and blocks its thread. Neither this class nor what it returns is `Sendable`: a
/// worker makes one on its queue, and uses it there until it drops it.
final class PostgresConnection {
    /// What it is for.
    enum Role {
        case acts
        /// Looks up customers by their number and writes nothing.
        case lookups
    }

    /// It broke, and nothing more comes of it.
    private(set) var isLost = false
    /// How many messages were sent whose answer was waited for.
    private(set) var roundTrips = 0
    /// How long an answer may take before the server counts as gone.
    var answerTimeout: Duration = .seconds(600)
    let address: PostgresAddress
    /// What each transaction that writes sets `synchronous_commit` to.
    private(set) var synchronousCommit = "on"
    private let handle: OpaquePointer
    /// Whether the server itself is at the other end. A pooler may run each transaction on another connection, where
    /// prepared statements have other names or don't exist.
    private(set) var isDirect = false
    private var statements = StatementCache()
    private var statementsAreStale = false

    init(to address: PostgresAddress, for role: Role) throws(PostgresFailure) {
        self.address = address
        handle = try Self.connect(to: address)
        try checkServer(for: role)
    }

    deinit { PQfinish(handle) }

    // MARK: Statements

    func rows(_ sql: String, _ arguments: [SQLValue] = []) throws(PostgresFailure) -> [SQLRow] {
        try answer(sql, try PostgresParameters(arguments)).rows()
    }

    /// How many rows it changed.
    func execute(_ sql: String, _ arguments: [SQLValue] = []) throws(PostgresFailure) -> Int {
        try answer(sql, try PostgresParameters(arguments)).changes
    }

    /// Sends a statement in one round trip. On a direct connection it is prepared once, under a name.
    func answer(_ sql: String, _ parameters: PostgresParameters) throws(PostgresFailure) -> PostgresAnswer {
        guard isDirect else {
            let sent = parameters.withPointers { values, lengths, formats in
                PQsendQueryParams(
                    handle, sql, Int32(parameters.types.count), parameters.types, values, lengths, formats, 1)
            }
            return try finish(sent: sent)
        }
        try dropStaleStatements()
        let known = statements.name(for: sql, types: parameters.types)
        let name = if let known { known } else { try prepare(sql, parameters.types) }
        let sent = parameters.withPointers { values, lengths, formats in
            PQsendQueryPrepared(handle, name, Int32(parameters.types.count), values, lengths, formats, 1)
        }
        return try finish(sent: sent)
    }

    /// Sends statements without parameters, one or more, whose rows nobody wants. The answer to the last.
    @discardableResult func run(_ script: String) throws(PostgresFailure) -> PostgresAnswer {
        try finish(sent: PQsendQuery(handle, script))
    }

    /// Whether no transaction is open.
    var isIdle: Bool { !isLost && PQtransactionStatus(handle) == PQTRANS_IDLE }

    private func prepare(_ sql: String, _ types: [Oid]) throws(PostgresFailure) -> String {
        let name = statements.newName()
        _ = try finish(sent: PQsendPrepare(handle, name, sql, Int32(types.count), types))
        var types = types
        if types.contains(0) {
            // A null has no type of its own; what the server took it for decides what may come there later.
            let description = try finish(sent: PQsendDescribePrepared(handle, name))
            types = types.indices.map { description.parameterType($0) }
        }
        if let evicted = statements.insert(name, for: sql, types: types) { try run("DEALLOCATE \(evicted)") }
        return name
    }

    /// Between transactions only: inside one, a failure has ended it.
    func dropStaleStatements() throws(PostgresFailure) {
        guard statementsAreStale, isIdle else { return }
        statements.removeAll()
        try run("DEALLOCATE ALL")
        statementsAreStale = false
    }

    // MARK: Answers

    /// Reads all that belongs to what was sent: the first failure, or the last answer.
    private func finish(sent: Int32) throws(PostgresFailure) -> PostgresAnswer {
        guard sent == 1 else { throw clientFailure() }
        roundTrips += 1
        var kept: PostgresAnswer?
        var failure: PostgresFailure?
        while true {
            try waitForAnswer()
            guard let result = PQgetResult(handle) else { break }
            let answer = PostgresAnswer(result)
            switch answer.status {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: kept = answer
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                isLost = true
                throw PostgresFailure(.failed("`COPY` is not spoken here"))
            default: if failure == nil { failure = self.failure(answer) }
            }
        }
        if PQstatus(handle) == CONNECTION_BAD { isLost = true }
        if let failure {
            // Whatever the server said: with the connection, the transaction is gone.
            guard isLost, case .none = failure.remedy else { throw failure }
            if case .unusable = failure.error { throw failure }
            throw PostgresFailure.lost(address.description, failure.error.description)
        }
        guard let kept else { throw clientFailure() }
        return kept
    }

    private func failure(_ answer: PostgresAnswer) -> PostgresFailure {
        guard let complaint = answer.complaint, !complaint.state.isEmpty else { return clientFailure() }
        let failure = PostgresFailure(
            state: complaint.state, message: complaint.message, database: address.description)
        switch failure.remedy {
        case .reconnect: isLost = true
        case .repeatAct: if failure.error != .busy { statementsAreStale = true }
        case .none: break
        }
        return failure
    }

    /// What libpq itself found wrong.
    private func clientFailure() -> PostgresFailure {
        let message = String(cString: PQerrorMessage(handle)).trimmed
        guard PQstatus(handle) == CONNECTION_BAD else { return PostgresFailure(.failed(message)) }
        isLost = true
        return .lost(address.description, message.isEmpty ? "the connection was lost" : message)
    }

    /// So that a server that hangs does not hold this thread for good. Over TLS bytes may wait in libpq, where a socket
    /// says nothing of them; there the TCP timeouts watch.
    private func waitForAnswer() throws(PostgresFailure) {
        guard PQsslInUse(handle) == 0, PQisBusy(handle) == 1 else { return }
        let deadline = ContinuousClock.now + answerTimeout
        while PQisBusy(handle) == 1 {
            guard Self.wait(PQsocket(handle), for: POLLIN, until: deadline) else {
                isLost = true
                throw .lost(address.description, "no answer within \(answerTimeout)")
            }
            // Where it fails, `PQgetResult` says why.
            guard PQconsumeInput(handle) == 1 else { return }
        }
    }

    // MARK: Connecting

    private static func connect(to address: PostgresAddress) throws(PostgresFailure) -> OpaquePointer {
        // The URL overrides what comes before it, and is overridden by what comes after it.
        let options = [
            ("application_name", "tenure"), ("keepalives_idle", "15"), ("keepalives_interval", "5"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "20000"), ("dbname", address.url.revealed),
            ("client_encoding", "UTF8"),
        ]
        let keywords = options.map { UnsafePointer(strdup($0.0)) } + [nil]
        let values = options.map { UnsafePointer(strdup($0.1)) } + [nil]
        defer { for text in keywords + values { free(UnsafeMutablePointer(mutating: text)) } }
        guard let handle = PQconnectStartParams(keywords, values, 1) else {
            throw .lost(address.description, "out of memory")
        }
        // Only then does a refusal carry its SQLSTATE.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        // Notices would go to standard error.
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        let deadline = ContinuousClock.now + .seconds(address.connectTimeout)
        var step = PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while step == PGRES_POLLING_READING || step == PGRES_POLLING_WRITING {
            let event = step == PGRES_POLLING_READING ? POLLIN : POLLOUT
            guard wait(PQsocket(handle), for: event, until: deadline) else {
                PQfinish(handle)
                throw .lost(address.description, "no answer within \(address.connectTimeout) s")
            }
            step = PQconnectPoll(handle)
        }
        guard step == PGRES_POLLING_OK else {
            let message = String(cString: PQerrorMessage(handle))
            PQfinish(handle)
            throw PostgresFailure(connecting: message, database: address.description)
        }
        PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        return handle
    }

    private static func wait(_ socket: Int32, for event: some BinaryInteger, until deadline: ContinuousClock.Instant)
        -> Bool
    {
        while true {
            let left = deadline - .now
            guard left > .zero else { return false }
            let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
            var descriptor = pollfd(fd: socket, events: Int16(truncatingIfNeeded: event), revents: 0)
            let ready = poll(&descriptor, 1, Int32(clamping: milliseconds + 1))
            if ready > 0 { return true }
            // A socket that cannot be asked is broken; libpq says how.
            if ready < 0, errno != EINTR { return true }
        }
    }

    // MARK: The server

    /// Changes nothing outside of its transaction, because the next one may run on another connection of a pooler.
    private func checkServer(for role: Role) throws(PostgresFailure) {
        let version = Int(PQserverVersion(handle))
        guard version >= 130_000 else {
            throw unusable("its PostgreSQL is of version \(version / 10_000); 13 is the least that this release knows")
        }
        let settings = try transact(.lookingUp) { () throws(PostgresFailure) in
            try rows(
                """
                SELECT pg_backend_pid(), current_setting('fsync'), current_setting('synchronous_commit')
                """
            ).first?.values ?? []
        }
        guard settings.count == 3 else { throw unusable("it doesn't report its settings") }
        // A pooler tells its clients another number, by which it knows what to cancel.
        isDirect = settings[0] == .integer(Int64(PQbackendPID(handle)))
        // Stronger than `on`, so kept.
        if settings[2] == .text("remote_apply") { synchronousCommit = "remote_apply" }
        guard role == .lookups || settings[1] == .text("on") || address.allowsFsyncOff else {
            throw unusable(
                "it runs with `fsync = off`, and loses what it acknowledged when its machine stops; set it to `on`, "
                    + "or add `allow_fsync_off=true` to the URL where the record does not matter")
        }
    }

    private func unusable(_ detail: String) -> PostgresFailure {
        PostgresFailure(.unusable(database: address.description, detail: detail))
    }
}
