import Foundation
import PostgresServer
import TenureStore
import Testing

@testable import TenurePostgres

@Suite struct `a connection to PostgreSQL` {
    private let connection: PostgresConnection

    init() throws {
        connection = try PostgresConnection(to: try freshAddress(), for: .transactions)
    }

    @Test func `a connection to PostgreSQL returns every value as it was sent`() throws {
        _ = try connection.run("CREATE TEMPORARY TABLE v (i BIGINT, r DOUBLE PRECISION, t TEXT, b BYTEA)")
        let rows: [[SQLValue]] = [
            [.integer(.min), .real(-0.1), .text(""), .blob([])],
            [.integer(.max), .real(.infinity), .text("ä🙂\n"), .blob([0, 255])],
            [.null, .null, .null, .null], [.integer(-1), .real(0), .text("\\x00 '\" $1"), .blob(Array("text".utf8))],
        ]
        for row in rows { #expect(try connection.execute("INSERT INTO v VALUES ($1, $2, $3, $4)", row) == 1) }
        #expect(try connection.rows("SELECT * FROM v") == rows.map { SQLRow($0) })
    }

    @Test func `a parameter of a PostgreSQL statement accepts null and other values, in any order`() throws {
        _ = try connection.run("CREATE TEMPORARY TABLE v (i BIGINT, t TEXT)")
        for row in [[.null, .text("a")], [1, .null], [.null, .null], [2, .text("b")]] as [[SQLValue]] {
            _ = try connection.execute("INSERT INTO v VALUES ($1, $2)", row)
        }
        #expect(try connection.rows("SELECT i FROM v WHERE t = $1 OR i = $2", [.null, 1]) == [SQLRow([1])])
        #expect(try connection.rows("SELECT i FROM v WHERE t = $1 OR i = $2", ["b", .null]) == [SQLRow([2])])
    }

    @Test(arguments: [
        ("count(*)", SQLValue.integer(3)), ("sum(n)", .integer(12_345_678_901_234)),
        ("-sum(n)", .integer(-12_345_678_901_234)),
        ("sum(n) * 0", .integer(0)), ("sum(n / 100000000)", .integer(123_456)), ("bool_and(n > 0)", .integer(1)),
        ("9223372036854775807::numeric", .integer(.max)), ("-9223372036854775808::numeric", .integer(.min)),
        ("10000::numeric", .integer(10_000)), ("1::smallint", .integer(1)), ("'a'::varchar", .text("a")),
        ("0.5::real", .real(0.5)), ("-0.25::float8", .real(-0.25)), ("bool_and(n < 0)", .integer(0)),
        ("(-32768)::smallint", .integer(-32_768)), ("(-2147483648)::int", .integer(-2_147_483_648)),
        ("4294967295::oid", .integer(4_294_967_295)), ("123400000000::numeric", .integer(123_400_000_000)),
        ("'a'::name", .text("a")), ("NULL::bigint", .null),
    ])
    func `a connection to PostgreSQL converts number, boolean and text types to the values of SQLite`(
        expression: String, value: SQLValue
    ) throws {
        let sql = "SELECT \(expression) FROM (VALUES (12345678901232::BIGINT), (1), (1)) AS t (n) GROUP BY ()"
        #expect(try connection.rows(sql).first?.values == [value])
    }

    @Test(arguments: [
        "now()", "ARRAY[1]", "'{}'::json", "0.5::numeric", "'NaN'::numeric", "9223372036854775808::numeric",
    ])
    func `a connection to PostgreSQL throws for values that it can't read exactly`(expression: String) {
        #expect(throws: PostgresFailure.self) { try connection.rows("SELECT \(expression)") }
        #expect(connection.isIdle)
    }

    @Test func `one PostgreSQL statement accepts parameters of different types, one after the other`() throws {
        let values: [SQLValue] = [1, "a", .real(0.5), .blob([1]), .null, 2, "b"]
        for value in values {
            let rows = try connection.rows("SELECT $1 IS NULL", [value])
            #expect(rows == [SQLRow([.integer(value == .null ? 1 : 0)])], "\(value)")
        }
    }

    @Test func `a connection to PostgreSQL keeps a limited number of prepared statements`() throws {
        for number in 0..<400 { _ = try connection.rows("SELECT \(number)") }
        for number in 0..<400 { #expect(try connection.rows("SELECT \(number)").first?.values == [SQLValue(number)]) }
        let kept = try connection.rows("SELECT count(*) FROM pg_prepared_statements").first?.integer(0)
        #expect(kept == 256)
    }

    @Test func `a connection to PostgreSQL keeps the prepared statements that were used last`() throws {
        let name = "SELECT name FROM pg_prepared_statements WHERE statement = 'SELECT -1'"
        _ = try connection.rows("SELECT -1")
        let first = try connection.rows(name).first?.values
        #expect(first != nil)
        for number in 0..<400 {
            _ = try connection.rows("SELECT \(number)")
            _ = try connection.rows("SELECT -1")
        }
        // It was never prepared again.
        #expect(try connection.rows(name).first?.values == first)
        let statements = try connection.rows("SELECT statement FROM pg_prepared_statements").flatMap(\.values)
        #expect(statements.contains("SELECT 399") && statements.contains("SELECT 200"))
        #expect(!statements.contains("SELECT 0") && !statements.contains("SELECT 100"))
    }

    @Test func `a connection to PostgreSQL recovers if its prepared statements are deallocated or tables change`()
        throws
    {
        _ = try connection.run("CREATE TEMPORARY TABLE v (i BIGINT); INSERT INTO v VALUES (1)")
        let read = { (session: any DatabaseSession) throws(StoreError) in try session.rows("SELECT * FROM v") }
        #expect(try connection.transact(.reading, read) == [SQLRow([1])])
        try connection.run("DEALLOCATE ALL")
        #expect(try connection.transact(.reading, read) == [SQLRow([1])])
        try connection.run("ALTER TABLE v ADD COLUMN t TEXT")
        #expect(try connection.transact(.reading, read) == [SQLRow([1, .null])])
    }

    @Test func `a connection to PostgreSQL uses its own settings and UTF-8, whatever the server's settings are`() throws
    {
        let settings = try connection.transact(.writing(AdvisoryKeys([], schema: "t"))) {
            () throws(PostgresFailure) in
            try connection.rows(
                """
                SELECT current_setting('client_encoding'), current_setting('synchronous_commit'),
                current_setting('application_name'), current_setting('client_min_messages')
                """)
        }
        #expect(settings.first?.values == ["UTF8", "on", "tenure", "warning"])
    }

    @Test func `options of a PostgreSQL URL can't change the encoding or select a standby, but name the application`()
        throws
    {
        let address = try freshAddress("client_encoding=LATIN1&target_session_attrs=standby&application_name=shop")
        let other = try PostgresConnection(to: address, for: .transactions)
        let settings = "SELECT current_setting('client_encoding'), current_setting('application_name'), $1::text"
        #expect(try other.rows(settings, ["ä🙂"]).first?.values == ["UTF8", "shop", "ä🙂"])
    }

    @Test func `a statement on a connection that PostgreSQL ended fails with a retryable error`() throws {
        let other = try PostgresConnection(to: connection.address, for: .transactions)
        let process = try #require(try other.rows("SELECT pg_backend_pid()").first?.integer(0))
        _ = try connection.rows("SELECT pg_terminate_backend($1::int)", [.integer(process)])
        let failure = #expect(throws: PostgresFailure.self) { try other.rows("SELECT 1") }
        #expect(failure?.error.isRetryable == true)
        #expect(other.isLost)
        #expect(!other.isIdle)
    }

    @Test func `a connection to PostgreSQL is given up with a retryable error if a response takes too long`() throws {
        connection.answerTimeout = .milliseconds(100)
        let failure = #expect(throws: PostgresFailure.self) { try connection.rows("SELECT pg_sleep(60)") }
        #expect(failure?.error.isRetryable == true)
        #expect(connection.isLost)
    }

    @Test func `a connection to PostgreSQL doesn't wait for a lock forever`() throws {
        let other = try PostgresConnection(to: connection.address, for: .transactions)
        _ = try other.run("SET lock_timeout = '50ms'")
        _ = try connection.run("BEGIN; SELECT pg_advisory_xact_lock(1234567)")
        let failure = #expect(throws: PostgresFailure.self) { try other.run("SELECT pg_advisory_lock(1234567)") }
        #expect(failure?.error == .busy)
        _ = try connection.run("ROLLBACK")
    }

    @Test func `similar lock keys get different advisory lock numbers, in ascending order`() {
        let keys = AdvisoryKeys((0..<50).map { "0 1 70400000000000\($0)" } + ["0 1 704000000000001"], schema: "one")
        #expect(keys.numbers.count == 50)
        #expect(keys.numbers == keys.numbers.sorted())
        #expect(AdvisoryKeys(["a"], schema: "one") != AdvisoryKeys(["a"], schema: "two"))
    }

    @Test func `a PostgreSQL transaction locks at most 64 keys, and more keys exclude all other writers`() {
        // Processes of all releases must use the same numbers.
        #expect(AdvisoryKeys.writers(in: "tenure") == -8_705_959_605_098_403_791)
        #expect(AdvisoryKeys([], schema: "tenure").all == -4_344_401_428_117_920_641)
        #expect(AdvisoryKeys(["0 1 704", "0 1 704"], schema: "tenure").numbers == [-6_409_175_684_719_921_898])
        let shared = "; SELECT pg_advisory_xact_lock_shared(-8705959605098403791)"
        let all = "pg_advisory_xact_lock_shared(-4344401428117920641)"
        #expect(AdvisoryKeys([], schema: "tenure").statements == shared)
        #expect(
            AdvisoryKeys(["0 1 704"], schema: "tenure").statements
                == "\(shared), \(all), pg_advisory_xact_lock(-6409175684719921898)")
        let most = AdvisoryKeys((0..<64).map { "\($0)" }, schema: "tenure")
        let locks = most.numbers.map { ", pg_advisory_xact_lock(\($0))" }.joined()
        #expect(most.numbers.count == 64)
        #expect(most.statements == "\(shared), \(all)\(locks)")
        let more = AdvisoryKeys((0..<65).map { "\($0)" }, schema: "tenure")
        #expect(more.statements == "\(shared), pg_advisory_xact_lock(-4344401428117920641)")
    }
}
