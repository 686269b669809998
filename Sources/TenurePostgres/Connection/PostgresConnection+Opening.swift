import CLibPQ
import Foundation
import TenureCore
import TenureStore

/// What a server reported about itself when a connection to it was opened.
struct PostgresServerState {
    /// Whether the connection leads to the server itself, and not to a connection pooler such as PgBouncer.
    var isDirect = false
    /// The value of `synchronous_commit` for transactions that write.
    var synchronousCommit = "on"
    /// Whether commits wait for a standby: a server that copies the changes of the primary.
    var hasSynchronousStandby = false
    /// Whether the server accepts writes, as a primary does. A standby refuses writes.
    var takesWrites = true
    /// PostgreSQL's timeline number, which grows each time a standby is promoted to the primary. 0 if the server
    /// doesn't report it.
    var timeline: UInt32 = 0
    /// PostgreSQL's system identifier, which a server shares with its standbys; nil if the server doesn't report it.
    var system: String?
}

extension PostgresConnection {
    /// Connects to one host, and returns libpq's connection. Throws after `connectTimeout`. The system resolves the
    /// host's name, and may take longer.
    static func connect(
        to address: PostgresAddress, at host: PostgresHostName, _ warnings: PostgresWarnings
    ) throws(PostgresFailure) -> OpaquePointer {
        // The URL is the value of `dbname`. Its options override those before `dbname` in this list, and those after
        // `dbname` override the URL. libpq skips empty values.
        let options = [
            ("application_name", "tenure"), ("keepalives_idle", "15"), ("keepalives_interval", "5"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "20000"), ("dbname", address.url.revealed),
            ("client_encoding", "UTF8"), ("host", host.host), ("hostaddr", host.address), ("port", host.port),
            ("target_session_attrs", "any"),
        ]
        let keywords = options.map { keyword, _ in UnsafePointer(strdup(keyword)) } + [nil]
        let values = options.map { _, value in UnsafePointer(strdup(value)) } + [nil]
        defer { for text in keywords + values { free(UnsafeMutablePointer(mutating: text)) } }
        guard let handle = PQconnectStartParams(keywords, values, 1)
        else { throw .lost(address.description, "out of memory") }
        // Error messages contain the SQLSTATE only with this setting.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        warnings.listen(to: handle)
        let deadline = ContinuousClock.now + .seconds(address.connectTimeout)
        var step = PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while step == PGRES_POLLING_READING || step == PGRES_POLLING_WRITING {
            let event = step == PGRES_POLLING_READING ? POLLIN : POLLOUT
            guard wait(PQsocket(handle), for: Int32(event), until: deadline) else {
                PQfinish(handle)
                throw .lost(address.description, "no answer from \(host) within \(address.connectTimeout) s")
            }
            step = PQconnectPoll(handle)
        }
        guard step == PGRES_POLLING_OK, PQsetnonblocking(handle, 1) == 0 else {
            let message = String(cString: PQerrorMessage(handle))
            PQfinish(handle)
            throw PostgresFailure(connecting: message, database: address.description)
        }
        PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        return handle
    }

    /// Reads the server's state. Throws `unusable` if Tenure can't use the server.
    ///
    /// Changes no settings beyond the transaction that reads, because a pooler may run the next transaction on another
    /// connection.
    func readServerState(for role: Role) throws(PostgresFailure) -> PostgresServerState {
        let version = Int(PQserverVersion(handle))
        guard version >= 130_000
        else { throw unusable("its PostgreSQL has version \(version / 10_000); update it to 13 or later") }
        let settings = try settings()
        guard settings.count == 7 else { throw unusable("it doesn't report its settings") }
        // The values are in the order of the query in `settings(and:)`.
        var state = PostgresServerState()
        // Through a pooler, libpq gets the pooler's process ID instead of the server's.
        state.isDirect = settings[0] == .integer(Int64(PQbackendPID(handle)))
        // `remote_apply` is stronger than `on`, so it is kept.
        if settings[2] == .text("remote_apply") { state.synchronousCommit = "remote_apply" }
        state.hasSynchronousStandby = settings[3] != .text("")
        state.takesWrites = settings[4] == .integer(0)
        if case .text(let file) = settings[5] { state.timeline = UInt32(file.prefix(8), radix: 16) ?? 0 }
        if case .text(let system) = settings[6] { state.system = system }
        guard role == .lookups || settings[1] == .text("on") || address.allowsFsyncOff else {
            throw unusable(
                "it runs with `fsync = off`, so a crash of its machine loses acknowledged transactions; set it to `on`, "
                    + "or add `allow_fsync_off=true` to the URL if the data doesn't matter")
        }
        return state
    }

    /// Reads the server's settings and state with a query. What libpq learns at the start of a connection isn't enough:
    /// a pooler then reports the settings of an earlier connection.
    private func settings() throws(PostgresFailure) -> [SQLValue] {
        // The name of the current WAL file begins with the timeline. The control file isn't used, because it still has
        // the earlier timeline for a while after a promotion.
        let timeline = "CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_walfile_name(pg_current_wal_lsn()) END"
        // Databases that are compatible with PostgreSQL may not have all of these functions.
        for system in ["(SELECT system_identifier::text FROM pg_control_system())", "NULL::text"] {
            do {
                return try settings(and: "\(timeline), \(system)")
            } catch {
                guard !isLost, case .failed = error.error else { throw error }
            }
        }
        return try settings(and: "NULL::text, NULL::text")
    }

    /// Reads the settings, and the values of two more SQL expressions: the timeline's WAL file and the system
    /// identifier. Fails if the server doesn't know a function in them.
    private func settings(and more: String) throws(PostgresFailure) -> [SQLValue] {
        try transact(.lookingUp) { () throws(PostgresFailure) in
            try rows(
                """
                SELECT pg_backend_pid(), current_setting('fsync'), current_setting('synchronous_commit'),
                current_setting('synchronous_standby_names'), pg_is_in_recovery(), \(more)
                """
            ).first?.values ?? []
        }
    }

    private func unusable(_ detail: String) -> PostgresFailure { .unusable(address.description, detail) }
}

/// Keeps the last warning that a server sent on a connection. Otherwise, libpq (PostgreSQL's C library) would print
/// warnings to standard error.
///
/// Use an object only on the dispatch queue of its connection (`PostgresWorker`).
final class PostgresWarnings {
    /// The message of the last warning; nil if no warning has arrived since the last `clear`.
    private(set) var last: String?

    /// Receives the warnings of this connection. This object must live longer than the connection.
    func listen(to handle: OpaquePointer) {
        PQsetNoticeReceiver(
            handle,
            { receiver, result in
                guard let receiver, let result, let severity = PQresultErrorField(result, PostgresWarnings.severity),
                    String(cString: severity) == "WARNING"
                else { return }
                let text = PQresultErrorField(result, PostgresAnswer.primaryMessage).map { String(cString: $0) }
                Unmanaged<PostgresWarnings>.fromOpaque(receiver).takeUnretainedValue().last = text ?? "a warning"
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func clear() { last = nil }

    /// PG_DIAG_SEVERITY_NONLOCALIZED, a macro that Swift doesn't import.
    private static let severity = Int32(UInt8(ascii: "V"))
}
