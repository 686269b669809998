import CLibPQ
import TenureStore

/// Why a statement failed, and what to do about it.
struct PostgresFailure: Error {
    enum Remedy {
        /// The connection is gone: the act may happen on another one.
        case reconnect
        /// Another transaction was in the way, or a plan is out of date: the same act may succeed at once.
        case repeatAct
        case none
    }

    let remedy: Remedy
    let error: StoreError

    init(_ error: StoreError, remedy: Remedy = .none) {
        self.error = error
        self.remedy = remedy
    }

    /// By SQLSTATE (appendix A of PostgreSQL's manual), the same in every language of the server's messages.
    init(state: String, message: String, database: String) {
        let detail = message.trimmed
        switch state {
        case "40001", "40P01": self.init(.busy, remedy: .repeatAct)
        // A plan whose tables changed, a statement that a proxy forgot or knows already.
        case "0A000" where detail.contains("cached plan"), "26000", "42P05":
            self.init(.failed(detail), remedy: .repeatAct)
        case "55P03", "57014": self.init(.busy)
        case "53100": self.init(.full)
        // The statement that begins a transaction: the schema has no Tenure database.
        case "42P01" where detail.contains("database"): self.init(.otherDatabase(database: database))
        case "42501":
            self.init(
                .unusable(
                    database: database,
                    detail: "\(detail); the role must own the schema and its tables, or have `USAGE` on the schema and "
                        + "all rights on its tables and sequences"))
        case "XX001", "XX002": self.init(.damaged(detail))
        // A standby refuses `BEGIN READ WRITE` itself with 0A000, which other errors have too.
        case "25006",
            "0A000" where detail.contains("during recovery"):
            self.init(
                .unusable(
                    database: database,
                    detail: "it takes no writes, being a standby or set to read only; name the primary server"))
        // PgBouncer's message. Its own errors share one SQLSTATE.
        case _ where detail.contains("statement pooling"):
            self.init(
                .unusable(
                    database: database,
                    detail: "its pooler runs with `pool_mode=statement`, which allows no transactions; set "
                        + "`pool_mode=transaction` or `pool_mode=session` for this database"))
        // The operator ended the connection, or the server is starting or going down, or has too many.
        case "57P01", "57P02", "57P03", "57P05", "25P03", "53300":
            self.init(.unreachable(database: database, detail: detail), remedy: .reconnect)
        case _ where state.hasPrefix("08"):
            self.init(.unreachable(database: database, detail: detail), remedy: .reconnect)
        default: self.init(.failed("\(detail) (\(state))"))
        }
    }

    static func lost(_ database: String, _ detail: String) -> PostgresFailure {
        PostgresFailure(.unreachable(database: database, detail: detail.trimmed), remedy: .reconnect)
    }
}

extension PostgresFailure {
    /// Why no connection came about. `message` is libpq's at its most verbose: it gives SQLSTATEs nowhere else.
    init(connecting message: String, database: String) {
        var lines = message.split(separator: "\n").filter { !$0.hasPrefix("LOCATION:") && !$0.isEmpty }.map(String.init)
        var state = ""
        for index in lines.indices {
            // As in `FATAL:  28P01: password authentication failed for user "tenure"`.
            guard let match = lines[index].firstMatch(of: #/:  ([0-9A-Z]{5}): /#) else { continue }
            state = String(match.1)
            lines[index].replaceSubrange(match.range, with: ": ")
        }
        let detail = lines.joined(separator: "; ").trimmed
        let isRefusal =
            switch state {
            // No such user, password or database, or none that may connect.
            case _ where state.hasPrefix("28"), "3D000", "42501", "0A000", "22023", "42704": true
            // libpq's own words for a server that speaks no TLS, or shows another certificate.
            case "": detail.contains("SSL") || detail.contains("certificate") || detail.contains("private key")
            default: false
            }
        if isRefusal {
            self.init(.unusable(database: database, detail: detail))
        } else {
            self.init(.unreachable(database: database, detail: detail), remedy: .reconnect)
        }
    }
}
