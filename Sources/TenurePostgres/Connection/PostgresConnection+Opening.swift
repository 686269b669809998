import CLibPQ
import Foundation
import TenureCore
import TenureStore

/// Connects to a server, and reads what the server reports about itself.
extension PostgresConnection {
    /// Connects to one host, and returns libpq's connection. Throws after `connectTimeout`. The system resolves the
    /// host's name, and may take longer.
    static func connect(
        to address: PostgresAddress, at host: PostgresHostName, _ warnings: PostgresWarnings
    ) throws(PostgresFailure) -> OpaquePointer {
        // The URL is the value of `dbname`. Its options override those before `dbname` in this list, and those after
        // `dbname` override the URL. libpq skips empty values.
        let options: [(keyword: String, value: String)] = [
            ("application_name", "tenure"), ("keepalives_idle", "15"), ("keepalives_interval", "5"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "20000"), ("dbname", address.url.revealed),
            ("client_encoding", "UTF8"), ("host", host.host), ("hostaddr", host.address), ("port", host.port),
            ("target_session_attrs", "any"),
        ]
        let keywords = options.map { UnsafePointer(strdup($0.keyword)) } + [nil]
        let values = options.map { UnsafePointer(strdup($0.value)) } + [nil]
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
        guard settings.count == 7 else { throw unusable("it doesn't report its settings; use PostgreSQL 13 or later") }
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
