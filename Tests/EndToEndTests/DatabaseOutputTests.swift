import CommandRunner
import Foundation
import TenureStore
import Testing

@testable import TenureCLI

/// What commands for a service's database print, as whole texts.
@Suite struct `the output of commands for a database` {
    /// A database with one customer, who has two artifacts.
    private func filled() async throws -> SoakTestBed {
        let testBed = try SoakTestBed()
        let (service, port) = try await testBed.start()
        let id = "704000003000000001"
        let (status, _) = await SoakClient(port: port).post(
            "/v1/sync",
            SoakClient.body(try testBed.appTransaction(of: id), [try testBed.transaction("410000000000901", of: id)]))
        try #require(status == 200)
        #expect(await service.end(by: SIGTERM) == 0)
        return testBed
    }

    private func size(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    @Test func `tenure database check, rebuild, backup and restore print what they counted`() async throws {
        let testBed = try await filled()
        let (database, copy) = (testBed.database, testBed.folder.url("copy.sqlite").path)
        let check = try await Command.run(["database", "check", "--database", database] + testBed.trust)
        #expect(check.output == "1 customer, 2 artifacts: nothing is wrong\n" && check.errors.isEmpty)
        let rebuild = try await Command.run(["database", "rebuild", "--database", database] + testBed.trust)
        #expect(rebuild.output == "1 customer: 0 changed\n" && rebuild.errors.isEmpty)
        let backup = try await testBed.databaseCommand("backup", copy)
        #expect(
            backup.output == "copied 1 customer and 2 artifacts to \(copy) (\(try size(copy)) bytes)\n",
            "\(backup.errors)")
        let restored = "restored 1 customer and 2 artifacts to \(database)"
        let first = try await testBed.databaseCommand("restore", copy)
        #expect(first.output == "\(restored); the previous database is now `\(database).replaced`\n", "\(first.errors)")
        // A missing database has nothing to keep.
        try FileManager.default.removeItem(atPath: database)
        let second = try await testBed.databaseCommand("restore", copy)
        #expect(second.output == "\(restored)\n" && second.status == 0, "\(second.errors)")
    }

    @Test func `tenure database vacuum prints the size after and before`() async throws {
        let testBed = try await filled()
        do {
            let connection = try SQLiteConnection(path: testBed.database, for: .writing)
            try connection.execute("CREATE TABLE scratch (bytes BLOB)")
            try connection.execute("INSERT INTO scratch VALUES (zeroblob(9000000))")
            try connection.execute("DROP TABLE scratch")
            _ = try connection.row("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        let before = try size(testBed.database)
        let result = try await testBed.databaseCommand("vacuum")
        let after = try size(testBed.database)
        #expect(before > 9_000_000 && after < 1_000_000, "\(before), then \(after) bytes")
        let sizes = "has \(byteCount(Int64(after))) now, and had \(byteCount(Int64(before)))"
        #expect(result.output == "\(testBed.database) \(sizes)\n" && result.errors.isEmpty, "\(result.errors)")
    }

    @Test func `tenure database migrate and reopen name both databases`() async throws {
        let testBed = try await filled()
        let (database, target) = (testBed.database, testBed.folder.url("target.sqlite").path)
        let early = try await testBed.databaseCommand("reopen")
        #expect(early.status == 1 && early.output.isEmpty)
        #expect(early.errors == "error: `\(database)` wasn't moved; services can write to it\n")
        let moved = try await testBed.databaseCommand("migrate", "--to", target)
        #expect(moved.status == 0 && moved.errors.isEmpty, "\(moved.errors)")
        let lines = moved.output.split(separator: "\n").map(String.init)
        let start = "moved to \(target); start the service there with its present keys"
        #expect(lines.last == "\(start) (`signing-key.json`, `access-token.secret`)")
        // The tables in order, without empty ones.
        let table = /(\w+): [1-9]\d*, hash [0-9a-f]{16} on both sides/
        let tables = lines.dropLast().compactMap { $0.wholeMatch(of: table)?.1 }
        #expect(tables.count == lines.count - 1 && tables == tables.sorted(), "\(moved.output)")
        #expect(lines.contains { $0.hasPrefix("customers: 1, ") } && lines.contains { $0.hasPrefix("artifacts: 2, ") })
        let reopened = try await testBed.databaseCommand("reopen")
        #expect(reopened.status == 0 && reopened.errors.isEmpty)
        #expect(reopened.output == "services can write to \(database) again; don't start a service on \(target)\n")
        for (options, words) in [
            ([], "the target is missing; pass either `--to` or `--to-config`"),
            (["--to", target, "--to-config", "x"], "`--to` and `--to-config` exclude each other; pass one of them"),
        ] as [([String], String)] {
            let wrong = try await Command.run(["database", "migrate", "--database", database] + options)
            #expect(wrong.status == 64 && wrong.errors.contains(words), "\(wrong.errors)")
        }
    }

    @Test(arguments: [
        (
            ["backup", "copy"],
            """
            this command copies only SQLite databases; use `pg_dump --format=custom --file=copy "$DATABASE_URL"`, and \
            restore the backup with `pg_restore`
            """
        ),
        (
            ["restore", "copy"],
            """
            this command restores only SQLite databases; restore a backup by `pg_dump` with `pg_restore`, or move a copy \
            of an SQLite backup into an empty database with `tenure database migrate --to`
            """
        ),
        (
            ["vacuum"],
            """
            PostgreSQL uses the space of removed rows again by itself (autovacuum); to give space back to the disk, run \
            `VACUUM FULL` with `psql`, as the owner of the tables
            """
        ),
    ])
    func `commands for files refuse a PostgreSQL database, and name its tools`(
        command: [String], words: String
    ) async throws {
        let url = "postgres://tenure:pa55@127.0.0.1:1/none"
        let result = try await Command.run(["database"] + command + ["--database", url])
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors == "error: \(words)\n")
    }

    @Test func `tenure admin-key list shows each key's name, scope, date and state`() async throws {
        let folder = try Folder()
        try await createDatabase(folder.url("tenure.sqlite").path)
        let database = ["--database", folder.url("tenure.sqlite").path]
        let longest = String(repeating: "n", count: 62) + "!~"
        for (name, scope) in [("ada", "support"), (longest, "link")] {
            let made = try await Command.run(["admin-key", "create", "--scope", scope, "--name", name] + database)
            #expect(made.status == 0 && made.errors == "save this key now: it isn't shown again\n", "\(made.errors)")
        }
        #expect(try await Command.run(["admin-key", "revoke", longest] + database).status == 0)
        let listed = try await Command.run(["admin-key", "list"] + database)
        let lines = listed.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 2, "\(listed.errors)")
        let ada = "ada" + String(repeating: " ", count: 61)
        let date = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/
        #expect(
            lines.map { $0.replacing(date, with: "DATE") } == [
                "\(ada)  support  made DATE  valid", "\(longest)  link     made DATE  revoked DATE",
            ])
    }

    @Test func `tenure webhook log shows deliveries, attempts and what happens next`() async throws {
        let folder = try Folder()
        let path = folder.url("tenure.sqlite").path
        try await createDatabase(path)
        // 1767225600 is the beginning of 2026.
        do {
            let connection = try SQLiteConnection(path: path, for: .writing)
            try connection.execute(
                """
                INSERT INTO outbox (id, event, type, public_id, data, created_at) VALUES
                (1, 'evt_1', 'entitlement.granted', 'cus_1', '{}', 1767225600000),
                (2, 'evt_2', 'policy.published', NULL, '{}', 1767225600000)
                """)
            try connection.execute(
                """
                INSERT INTO deliveries (id, message, endpoint, bulk, attempts, queued_at, next_at, delivered_at) VALUES
                (1, 1, 'app', 0, 1, 1767225600000, NULL, 1767225660000), (2, 1, 'shop', 0, 9, 1767225600000, NULL, NULL),
                (3, 2, 'shop', 0, 1, 1767225600000, 1767229200000, NULL)
                """)
            try connection.execute(
                """
                INSERT INTO delivery_log (delivery, at, status, detail) VALUES
                (1, 1767225660000, 200, NULL), (2, 1767225660000, 500, 'the endpoint answered 500'),
                (2, 1767225720000, NULL, 'the endpoint refused the connection')
                """)
        }
        let published = """
            evt_2  2026-01-01T00:00:00Z  policy.published
              shop: next attempt 2026-01-01T01:00:00Z

            """
        let granted = """
            evt_1  2026-01-01T00:00:00Z  entitlement.granted  cus_1
              app: delivered 2026-01-01T00:01:00Z
                2026-01-01T00:01:00Z  200
              shop: abandoned
                2026-01-01T00:01:00Z  500  the endpoint answered 500
                2026-01-01T00:02:00Z  the endpoint refused the connection

            """
        for (options, output, errors) in [
            (["--since", "2026-01-01"], published + granted, ""),
            (["--since", "2026-01-01", "--limit", "0"], published, ""), (["--event", "evt_1"], granted, ""),
            (["--since", "2026-01-01T00:00:01Z"], "", "no message matches `--event` or `--since`\n"),
            ([], "", "no message in the last 24 hours; pass `--since` with an earlier date\n"),
        ] as [([String], String, String)] {
            let result = try await Command.run(["webhook", "log", "--database", path] + options)
            #expect(result.status == 0 && result.output == output && result.errors == errors, "\(result)")
        }
    }
}
