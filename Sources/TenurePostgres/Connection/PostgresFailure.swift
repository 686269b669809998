import TenureStore

/// The reason why a statement failed, and whether to repeat it.
struct PostgresFailure: Error {
    /// What to do so that the transaction succeeds.
    enum Remedy {
        /// The connection is lost. The transaction may be repeated on another connection.
        case reconnect
        /// Another transaction conflicted, or a plan is out of date. The same transaction may succeed immediately.
        case repeatTransaction
        /// Repeating the transaction doesn't help.
        case none
    }

    let remedy: Remedy
    let error: StoreError

    init(_ error: StoreError, remedy: Remedy = .none) {
        self.error = error
        self.remedy = remedy
    }

    /// Creates a failure from an SQLSTATE (appendix A of PostgreSQL's manual), which doesn't depend on the server's
    /// language.
    init(state: String, message: String, database: String) {
        let detail = message.onOneLine
        switch state {
        // A serialization failure or a deadlock.
        case "40001", "40P01": self.init(.busy, remedy: .repeatTransaction)
        // A cached plan is outdated, or the pooler lacks a prepared statement or already has a statement of that name.
        case "0A000" where detail.contains("cached plan"), "26000", "42P05":
            self.init(.failed(detail), remedy: .repeatTransaction)
        // A lock wasn't free in time, or the statement was canceled, as after a timeout.
        case "55P03", "57014": self.init(.busy)
        // The disk is full.
        case "53100": self.init(.full)
        // At the start of a transaction, the schema has no table `database`: it isn't a Tenure database.
        case "42P01" where detail.contains("database"): self.init(.otherDatabase(database: database))
        // A table or an index is corrupted.
        case "XX001", "XX002": self.init(.damaged(detail))
        // The server is a standby. `BEGIN READ WRITE` fails there with 0A000, which other errors have too.
        case "25006": self = .standby(database)
        case "0A000" where detail.contains("during recovery"): self = .standby(database)
        // The role lacks a privilege.
        case "42501":
            self.init(
                .readOnly(
                    database: database,
                    detail: "\(detail); the role must own the schema and its tables, or have `USAGE` on the schema and "
                        + "all rights on its tables and sequences"))
        // PgBouncer's message. Its own errors share one SQLSTATE.
        case _ where detail.contains("statement pooling"):
            self = .unusable(
                database,
                "its pooler runs with `pool_mode=statement`, which allows no transactions; set `pool_mode=transaction` "
                    + "or `pool_mode=session` for this database")
        // An operator ended the connection, or the server is starting, shutting down, or has too many connections.
        case "57P01", "57P02", "57P03", "57P05", "25P03", "53300": self = .lost(database, detail)
        // The connection was lost.
        case _ where state.hasPrefix("08"): self = .lost(database, detail)
        default: self.init(.failed("\(detail) (\(state))"))
        }
    }

    /// The failure of a write to a standby, a server that only copies the changes of the primary. A connection to
    /// another server may help; another connection to this server doesn't.
    static func standby(_ database: String) -> PostgresFailure {
        PostgresFailure(
            .readOnly(database: database, detail: "it is a standby or read-only; use the primary server in its URL"),
            remedy: .reconnect)
    }

    /// The failure for a database that Tenure can't use.
    static func unusable(_ database: String, _ detail: String) -> PostgresFailure {
        PostgresFailure(.unusable(database: database, detail: detail))
    }

    /// The failure for a connection that was lost or couldn't be made.
    static func lost(_ database: String, _ detail: String) -> PostgresFailure {
        PostgresFailure(.unreachable(database: database, detail: detail.onOneLine), remedy: .reconnect)
    }

    /// The reason why a connection failed. `message` is libpq's verbose message, the only source of the SQLSTATE.
    init(connecting message: String, database: String) {
        var lines = message.split(separator: "\n").filter { !$0.hasPrefix("LOCATION:") && !$0.isEmpty }.map(String.init)
        var state = ""
        for index in lines.indices {
            // Finds the SQLSTATE in `FATAL:  28P01: password authentication failed for user "tenure"`.
            guard let match = lines[index].firstMatch(of: #/:  ([0-9A-Z]{5}): /#) else { continue }
            state = String(match.1)
            lines[index].replaceSubrange(match.range, with: ": ")
        }
        let detail = lines.joined(separator: "\n").onOneLine
        let isRefusal =
            switch state {
            // An unknown user or database, a wrong password, no right to connect, or a rejected option or protocol.
            case _ where state.hasPrefix("28"), "3D000", "42501", "0A000", "22023", "42704": true
            // libpq's messages for a server without TLS, or for a certificate or key that isn't accepted.
            case "":
                (detail.contains("SSL") || detail.contains("certificate") || detail.contains("private key"))
                    && !Self.lossesInHandshake.contains(where: detail.contains)
            default: false
            }
        self = isRefusal ? .unusable(database, detail) : .lost(database, detail)
    }

    /// The words of libpq and OpenSSL for a connection that ended during the TLS handshake.
    private static let lossesInHandshake = [
        "SSL SYSCALL error", "unexpected eof", "closed unexpectedly", "closed the connection unexpectedly",
    ]
}
