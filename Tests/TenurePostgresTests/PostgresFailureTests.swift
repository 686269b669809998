import TenureStore
import Testing

@testable import TenurePostgres

/// What Tenure does after each of PostgreSQL's errors: give up, repeat the transaction, or connect again.
@Suite struct `failures of PostgreSQL` {
    /// The kind of the error and what may help, such as `busy, repeat`.
    private func summary(of failure: PostgresFailure) -> String {
        let error =
            switch failure.error {
            case .busy: "busy"
            case .full: "full"
            case .damaged: "damaged"
            case .failed: "failed"
            case .otherDatabase: "other database"
            case .readOnly: "read-only"
            case .unusable: "unusable"
            case .unreachable: "unreachable"
            default: "\(failure.error)"
            }
        let remedy =
            switch failure.remedy {
            case .reconnect: "connect again"
            case .repeatTransaction: "repeat"
            case .none: "give up"
            }
        return "\(error), \(remedy)"
    }

    @Test(arguments: [
        ("40001", "could not serialize access", "busy, repeat"), ("40P01", "deadlock detected", "busy, repeat"),
        ("0A000", "cached plan must not change result type", "failed, repeat"),
        ("0A000", "cannot set transaction read-write mode during recovery", "read-only, connect again"),
        ("0A000", "COPY isn't possible here", "failed, give up"),
        ("26000", "prepared statement \"t1\" does not exist", "failed, repeat"),
        ("42P05", "prepared statement \"t1\" already exists", "failed, repeat"),
        ("55P03", "canceling statement due to lock timeout", "busy, give up"),
        ("57014", "canceling statement due to statement timeout", "busy, give up"),
        ("53100", "could not extend file: No space left on device", "full, give up"),
        ("42P01", "relation \"database\" does not exist", "other database, give up"),
        ("42P01", "relation \"customers\" does not exist", "failed, give up"),
        ("XX001", "invalid page in block 3", "damaged, give up"),
        ("XX002", "index contains unexpected zero page", "damaged, give up"),
        ("25006", "cannot execute INSERT in a read-only transaction", "read-only, connect again"),
        ("42501", "permission denied for table customers", "read-only, give up"),
        ("08P01", "statement pooling isn't supported in transactions", "unusable, give up"),
        ("57P01", "terminating connection due to administrator command", "unreachable, connect again"),
        ("57P02", "terminating connection because of crash of another server process", "unreachable, connect again"),
        ("57P03", "the database system is starting up", "unreachable, connect again"),
        ("57P05", "terminating connection due to idle-session timeout", "unreachable, connect again"),
        ("25P03", "terminating connection due to idle-in-transaction timeout", "unreachable, connect again"),
        ("53300", "sorry, too many clients already", "unreachable, connect again"),
        ("08006", "connection failure", "unreachable, connect again"),
        ("22P02", "invalid input syntax", "failed, give up"),
    ])
    func `each SQLSTATE of PostgreSQL tells whether to repeat the transaction, to connect again or to give up`(
        state: String, message: String, expected: String
    ) {
        #expect(summary(of: PostgresFailure(state: state, message: message, database: "db")) == expected)
    }

    @Test func `an unexpected error of PostgreSQL has the server's message and code, on one line`() {
        let failure = PostgresFailure(state: "22P02", message: "invalid input\n\tLINE 1: x\n", database: "db")
        #expect(failure.error == .failed("invalid input; LINE 1: x (22P02)"))
    }

    @Test func `errors of PostgreSQL that an operator must correct name the problem and the fix`() {
        func error(_ state: String, _ message: String) -> StoreError {
            PostgresFailure(state: state, message: message, database: "db").error
        }
        let privilege = """
            permission denied for table customers; the role must own the schema and its tables, or have `USAGE` on the \
            schema and all rights on its tables and sequences
            """
        #expect(
            error("42501", "permission denied for table customers") == .readOnly(database: "db", detail: privilege))
        #expect(
            error("25006", "cannot execute INSERT")
                == .readOnly(database: "db", detail: "it is a standby or read-only; use the primary server in its URL"))
        let pooler = """
            its pooler runs with `pool_mode=statement`, which allows no transactions; set `pool_mode=transaction` or \
            `pool_mode=session` for this database
            """
        #expect(
            error("08P01", "statement pooling isn't supported") == .unusable(database: "db", detail: pooler))
        #expect(error("42P01", "relation \"database\" does not exist") == .otherDatabase(database: "db"))
        #expect(error("57P01", "terminating\n\tnow") == .unreachable(database: "db", detail: "terminating; now"))
        #expect(error("XX001", "invalid page") == .damaged("invalid page"))
        let refusal = "FATAL:  28P01: password authentication failed for user \"me\"\nLOCATION:  auth_failed, a.c:3\n"
        #expect(
            PostgresFailure(connecting: Self.start + refusal, database: "db").error
                == .unusable(
                    database: "db", detail: Self.start + "FATAL: password authentication failed for user \"me\""))
    }

    private static let start = "connection to server at \"127.0.0.1\", port 5432 failed: "

    @Test(arguments: [
        ("FATAL:  28P01: password authentication failed for user \"me\"\nLOCATION:  auth_failed, auth.c:328\n", true),
        ("FATAL:  28000: no pg_hba.conf entry for host\n", true),
        ("FATAL:  3D000: database \"shop\" does not exist\n", true),
        ("FATAL:  42501: permission denied for database \"shop\"\n", true),
        ("FATAL:  22023: invalid value for parameter\n", true),
        ("FATAL:  53300: sorry, too many clients already\n", false),
        ("FATAL:  57P03: the database system is starting up\n", false),
        ("Connection refused\n\tIs the server running on that host?\n", false),
        ("server does not support SSL, but SSL was required\n", true),
        ("SSL error: certificate verify failed\n", true),
        ("SSL SYSCALL error: EOF detected\n", false), ("SSL error: unexpected eof while reading\n", false),
        ("server closed the connection unexpectedly\n", false),
        ("SSL connection has been closed unexpectedly\n", false),
        ("SSL negotiation failed: server closed the connection unexpectedly\n", false),
        ("root certificate file \"/r\" does not exist\n", true),
        ("could not load private key file \"/k\": bad password read\n", true),
        ("FATAL:  0A000: unsupported frontend protocol\n", true),
        ("FATAL:  42704: unrecognized configuration parameter\n", true),
    ])
    func `a failure to connect to PostgreSQL is final only if a later attempt would fail too`(
        message: String, isFinal: Bool
    ) {
        let failure = PostgresFailure(connecting: Self.start + message, database: "db")
        #expect(summary(of: failure) == (isFinal ? "unusable, give up" : "unreachable, connect again"))
        #expect(failure.error.isRetryable == !isFinal)
        // Codes and positions in the server's source code don't help an operator.
        let text = failure.error.description
        #expect(!text.contains("28P01") && !text.contains("LOCATION") && !text.contains("\n"), "\(text)")
    }
}
