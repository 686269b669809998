import CLibPQ
import Foundation
import TenureStore

/// One connection to PostgreSQL.
///
/// Every call blocks its thread until the server answers, and fails if the server is silent for `answerTimeout`. libpq,
/// PostgreSQL's C library, sends and reads without blocking, and this class waits for the socket. Neither this class
/// nor its results are `Sendable`: a `PostgresWorker` creates a connection on its dispatch queue, and uses it only
/// there.
final class PostgresConnection {
    /// The purpose of the connection.
    enum Role {
        /// Any transaction.
        case transactions
        /// Looking up customers by row ID, which writes nothing.
        case lookups
    }

    /// The value of `answerTimeout` once the connection is open. It is longer than `statement_timeout` (4 seconds), so
    /// that only a server that doesn't answer at all counts as gone.
    static let defaultAnswerTimeout = Duration.seconds(6)

    /// Whether the connection is broken and can't be used anymore.
    private(set) var isLost = false
    /// The number of messages that the connection has waited for.
    private(set) var roundTrips = 0
    /// How long the server may be silent before it counts as gone.
    var answerTimeout: Duration
    /// How long a commit may wait for a standby, which `statement_timeout` doesn't limit.
    static let commitTimeout = Duration.seconds(4)

    /// How long a statement may run until this class asks the server to cancel it; nil to wait for its answer.
    var cancelsAfter: Duration?
    /// The address of the app that uses the connection now. Apps with the same database and role share connections.
    var address: PostgresAddress
    /// The server to which the connection leads.
    let host: PostgresHost
    /// The value of `host.generation` when the connection was opened.
    private let generation: Int
    /// What the server reported about itself when the connection was opened.
    private(set) var server = PostgresServerState()
    /// Receives the server's warnings on this connection. `clear()` removes the latest warning.
    let warnings = PostgresWarnings()
    /// libpq's connection.
    let handle: OpaquePointer
    /// Whether the server was asked to cancel a statement. After that, no transaction begins on the connection.
    private var isCanceled = false
    private var statements = StatementCache()
    /// Whether the server reported that a prepared statement was outdated or unknown. If so, all statements are
    /// prepared again.
    private var statementsAreStale = false

    /// - Parameter host: One of the address's hosts; nil for the first host.
    init(to address: PostgresAddress, at host: PostgresHost? = nil, for role: Role) throws(PostgresFailure) {
        self.address = address
        let host = host ?? PostgresHost(address.hosts.first ?? PostgresHostName(host: "", address: "", port: ""))
        self.host = host
        generation = host.generation
        answerTimeout = .seconds(address.connectTimeout)
        handle = try Self.connect(to: address, at: host.name, warnings)
        server = try readServerState(for: role)
        answerTimeout = Self.defaultAnswerTimeout
    }

    deinit { PQfinish(handle) }

    // MARK: Statements

    /// Runs a statement and returns its rows.
    func rows(_ sql: String, _ arguments: [SQLValue] = []) throws(PostgresFailure) -> [SQLRow] {
        try answer(sql, try PostgresParameters(arguments)).rows()
    }

    /// Runs a statement and returns the number of changed rows.
    func execute(_ sql: String, _ arguments: [SQLValue] = []) throws(PostgresFailure) -> Int {
        try answer(sql, try PostgresParameters(arguments)).changes
    }

    /// Runs a statement and returns the server's answer. On a direct connection, each statement is prepared once, under
    /// a name.
    func answer(_ sql: String, _ parameters: PostgresParameters) throws(PostgresFailure) -> PostgresAnswer {
        guard isDirect else {
            let sent = parameters.withPointers { values, lengths, formats in
                PQsendQueryParams(
                    handle, sql, Int32(parameters.types.count), parameters.types, values, lengths, formats, 1)
            }
            return try finish(sent: sent)
        }
        try dropStaleStatements()
        // The key contains the schema, because statements don't name it.
        let key = "\(address.schema) \(sql)"
        let known = statements.name(for: key, types: parameters.types)
        let name = if let known { known } else { try prepare(sql, parameters.types, as: key) }
        let sent = parameters.withPointers { values, lengths, formats in
            PQsendQueryPrepared(handle, name, Int32(parameters.types.count), values, lengths, formats, 1)
        }
        return try finish(sent: sent)
    }

    /// Runs one or more statements without parameters. Returns the result of the last statement, and discards the
    /// results of the other statements.
    @discardableResult func run(_ script: String) throws(PostgresFailure) -> PostgresAnswer {
        try finish(sent: PQsendQuery(handle, script))
    }

    /// Whether the server itself is at the other end, and not a connection pooler. A pooler may run each transaction on
    /// another connection, where prepared statements have other names or don't exist.
    var isDirect: Bool { server.isDirect }

    /// Whether `PostgresHost.dropConnections` was called since this connection was opened.
    var isDropped: Bool { host.generation != generation }

    /// Whether a transaction can begin on this connection.
    var isIdle: Bool { !isLost && !isDropped && !isCanceled && PQtransactionStatus(handle) == PQTRANS_IDLE }

    /// Whether a transaction is open.
    var isInTransaction: Bool { !isLost && PQtransactionStatus(handle) != PQTRANS_IDLE }

    /// Prepares a statement, and returns its name. `key` identifies it in the cache.
    private func prepare(_ sql: String, _ types: [Oid], as key: String) throws(PostgresFailure) -> String {
        let name = statements.newName()
        _ = try finish(sent: PQsendPrepare(handle, name, sql, Int32(types.count), types))
        var types = types
        if types.contains(0) {
            // A NULL parameter has no type, so the server chooses the types of the prepared statement.
            let description = try finish(sent: PQsendDescribePrepared(handle, name))
            types = types.indices.map { description.parameterType($0) }
        }
        if let evicted = statements.insert(name, for: key, types: types) { try run("DEALLOCATE \(evicted)") }
        return name
    }

    /// Deallocates stale statements. Inside a transaction, does nothing: the failure that made the statements stale has
    /// also aborted the transaction, so `DEALLOCATE` would fail.
    func dropStaleStatements() throws(PostgresFailure) {
        guard statementsAreStale, isIdle else { return }
        statements.removeAll()
        try run("DEALLOCATE ALL")
        statementsAreStale = false
    }

    // MARK: Answers

    /// Reads all results of a statement. Throws the first failure, or returns the last result.
    ///
    /// - Parameter sent: what libpq returned when it sent the statement: 1 for success, 0 for a failure.
    private func finish(sent: Int32) throws(PostgresFailure) -> PostgresAnswer {
        guard sent == 1 else { throw clientFailure() }
        roundTrips += 1
        try flush()
        var lastAnswer: PostgresAnswer?
        var failure: PostgresFailure?
        while true {
            try waitForAnswer()
            guard let result = PQgetResult(handle) else { break }
            let answer = PostgresAnswer(result)
            switch answer.status {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: lastAnswer = answer
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                isLost = true
                throw PostgresFailure(.defect("`COPY` isn't supported"))
            default: if failure == nil { failure = self.failure(answer) }
            }
        }
        if PQstatus(handle) == CONNECTION_BAD { isLost = true }
        if let failure {
            // A lost connection ends the transaction, so the loss is reported instead of the statement's error. The
            // reason why Tenure can't use the server says more than the loss.
            guard isLost, case .none = failure.remedy else { throw failure }
            if case .unusable = failure.error { throw failure }
            throw PostgresFailure.lost(address.description, failure.error.description)
        }
        guard let lastAnswer else { throw clientFailure() }
        return lastAnswer
    }

    /// Returns the failure that a result reports, and records what it means for this connection.
    private func failure(_ answer: PostgresAnswer) -> PostgresFailure {
        guard let error = answer.serverError, !error.state.isEmpty else { return clientFailure() }
        let failure = PostgresFailure(state: error.state, message: error.message, database: address.description)
        switch failure.remedy {
        case .reconnect: isLost = true
        case .repeatTransaction: if failure.error != .busy { statementsAreStale = true }
        case .none: break
        }
        return failure
    }

    /// Returns the failure for an error of libpq itself, such as a lost connection.
    private func clientFailure() -> PostgresFailure {
        let message = String(cString: PQerrorMessage(handle)).onOneLine
        guard PQstatus(handle) == CONNECTION_BAD else { return PostgresFailure(.failed(message)) }
        isLost = true
        return .lost(address.description, message.isEmpty ? "the connection was lost" : message)
    }

    // MARK: Waiting

    /// Sends what libpq has buffered. Fails after `answerTimeout` if the server reads nothing.
    private func flush() throws(PostgresFailure) {
        var deadline = ContinuousClock.now + answerTimeout
        while PQflush(handle) == 1 {
            if try isReady(for: Int32(POLLIN) | Int32(POLLOUT), until: deadline) { deadline = .now + answerTimeout }
            // If the flush fails, `PQgetResult` returns the reason.
            guard PQconsumeInput(handle) == 1 else { return }
        }
    }

    /// Waits until libpq has the next result. Fails after `answerTimeout` without a byte, and asks the server to cancel
    /// the statement after `cancelsAfter`.
    private func waitForAnswer() throws(PostgresFailure) {
        guard PQisBusy(handle) == 1 else { return }
        var deadline = ContinuousClock.now + answerTimeout
        var cancellation = cancelsAfter.map { ContinuousClock.now + $0 }
        while PQisBusy(handle) == 1 {
            if let instant = cancellation, instant < .now {
                cancellation = nil
                cancel()
            }
            if try isReady(for: Int32(POLLIN), until: deadline) { deadline = .now + answerTimeout }
            guard PQconsumeInput(handle) == 1 else { return }
            // The rest of a TLS record may be in libpq's memory, and `poll` doesn't report it.
            if PQsslInUse(handle) == 1, PQconsumeInput(handle) != 1 { return }
        }
    }

    /// Asks the server to cancel the running statement. No later transaction uses the connection, because the request
    /// may arrive during a later statement.
    private func cancel() {
        isCanceled = true
        guard let request = PQgetCancel(handle) else { return }
        // A separate thread sends the request, because libpq blocks while the server is silent. Only that thread uses
        // `sent`.
        nonisolated(unsafe) let sent = request
        Thread.detachNewThread {
            var message = [CChar](repeating: 0, count: 256)
            PQcancel(sent, &message, 256)
            PQfreeCancel(sent)
        }
    }

    /// Waits for the socket, at most 100 ms. Returns whether the socket is ready. After the deadline, throws and drops
    /// all connections to this server, because they would time out too.
    private func isReady(for events: Int32, until deadline: ContinuousClock.Instant) throws(PostgresFailure) -> Bool {
        guard !isDropped else {
            isLost = true
            throw .lost(
                address.description,
                """
                all connections to \(host.name) were closed, because the server didn't answer, no longer accepts \
                writes, or was replaced by another server
                """)
        }
        guard deadline > .now else {
            isLost = true
            host.dropConnections()
            throw .lost(address.description, "no answer from \(host.name) within \(answerTimeout)")
        }
        return Self.wait(PQsocket(handle), for: events, until: min(deadline, .now + .milliseconds(100)))
    }

    /// Waits for the socket. Returns false if the socket isn't ready at the deadline.
    static func wait(_ socket: Int32, for events: Int32, until deadline: ContinuousClock.Instant) -> Bool {
        while true {
            let left = deadline - .now
            guard left > .zero else { return false }
            let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
            var descriptor = pollfd(fd: socket, events: Int16(truncatingIfNeeded: events), revents: 0)
            let ready = poll(&descriptor, 1, Int32(clamping: milliseconds + 1))
            // `poll` fails for a broken socket; libpq has the reason.
            if ready > 0 || (ready < 0 && errno != EINTR) { return true }
        }
    }
}
