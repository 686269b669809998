import CommandRunner
import Foundation
import PostgresServer
import Testing

/// What operators read about a database that can't be used, in places where the first error of the database misleads.
@Suite struct `a service with a database that can't be used` {
    private static func fresh() -> String { "messages_\(UInt32.random(in: .min ... .max))" }

    private func refusal(_ testBed: SoakTestBed, _ more: [String] = []) async throws -> String {
        let service = try testBed.launch(more)
        #expect(await service.ended() == 1)
        return service.errors
    }

    @Test func `a service refuses a database if its PostgreSQL role lacks USAGE on the schema`() async throws {
        let (server, schema, role) = (try PostgresServer.shared(), Self.fresh(), Self.fresh())
        let owner = try SoakTestBed(database: server.url("schema=\(schema)"))
        let (service, _) = try await owner.start()
        #expect(await service.end(by: SIGTERM) == 0)
        try server.run("CREATE ROLE \(role) LOGIN")
        let guest = try SoakTestBed(database: server.url(user: role, "schema=\(schema)"), authority: owner.authority)
        let errors = try await refusal(guest)
        let check = try await guest.databaseCommand("check")
        #expect(check.status == 1)
        for errors in [errors, check.errors] {
            #expect(errors.contains("permission denied for schema \(schema)"), "\(errors)")
            #expect(errors.contains("or have `USAGE` on the schema"), "\(errors)")
            #expect(!errors.contains("audit_stays"))
        }
        // With USAGE alone, the message is about the next missing privilege.
        try server.run("GRANT USAGE ON SCHEMA \(schema) TO \(role)")
        #expect(try await refusal(guest).contains("permission denied for table"), "\(errors)")
    }

    @Test func `a running service reports that its PostgreSQL role has lost USAGE on the schema`() async throws {
        let (server, schema, role) = (try PostgresServer.shared(), Self.fresh(), Self.fresh())
        try server.run("CREATE ROLE \(role) LOGIN; CREATE SCHEMA \(schema) AUTHORIZATION \(role)")
        let testBed = try SoakTestBed(database: server.url(user: role, "schema=\(schema)"))
        let (service, port) = try await testBed.start()
        #expect(await SoakClient(port: port).get("/health/ready", token: "").0 == 200)
        try server.run("ALTER SCHEMA \(schema) OWNER TO tenure; REVOKE ALL ON SCHEMA \(schema) FROM \(role)")
        var answer = await SoakClient(port: port).get("/health/ready", token: "")
        for _ in 0..<200 where answer.0 == 200 {
            try await Task.sleep(for: .milliseconds(50))
            answer = await SoakClient(port: port).get("/health/ready", token: "")
        }
        #expect(answer.0 == 503, "\(answer)")
        #expect(try await service.says("has lost `USAGE` on its schema"), "\(service.errors)")
        try server.run("GRANT USAGE ON SCHEMA \(schema) TO \(role)")
        for _ in 0..<200 where await SoakClient(port: port).get("/health/ready", token: "").0 != 200 {
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(await SoakClient(port: port).get("/health/ready", token: "").0 == 200)
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `a service refuses a PgBouncer pooler in statement mode`() async throws {
        let pooler = try PgBouncer(before: try PostgresServer.shared(), mode: .statement, connections: 2)
        let testBed = try SoakTestBed(database: pooler.url("schema=\(Self.fresh())"))
        let errors = try await refusal(testBed)
        let check = try await testBed.databaseCommand("check")
        #expect(check.status == 1)
        for errors in [errors, check.errors] {
            #expect(errors.contains("`pool_mode=statement`, which allows no transactions"), "\(errors)")
        }
    }

    @Test func `a service refuses an SQLite file that has a second hard link`() async throws {
        let testBed = try SoakTestBed()
        let (service, _) = try await testBed.start()
        let other = testBed.folder.url("other.sqlite").path
        try FileManager.default.linkItem(atPath: testBed.database, toPath: other)
        let second = try SoakTestBed(database: other, authority: testBed.authority)
        for name in ["signing-key.json", "access-token.secret"] {
            try FileManager.default.copyItem(at: testBed.folder.url(name), to: second.folder.url(name))
        }
        let errors = try await refusal(second)
        #expect(errors.contains("the file has 2 names (hard links)"), "\(errors)")
        let check = try await second.databaseCommand("check")
        #expect(check.status == 1 && check.errors.contains("hard links"), "\(check.errors)")
        #expect(!FileManager.default.fileExists(atPath: other + "-wal"))
        // The other service, which has the database open, continues.
        #expect(await service.end(by: SIGTERM) == 0)
        try FileManager.default.removeItem(atPath: other)
        let (again, _) = try await testBed.start()
        #expect(await again.end(by: SIGTERM) == 0)
        try await testBed.expectHealthy()
    }

    /// Writes the configuration of the test bed's app below `apps`, and of another app with this database.
    private func apps(_ testBed: SoakTestBed, _ more: String = "", keys: String = "") throws -> String {
        try testBed.folder.write(
            """
            port: 0
            trust: [\(testBed.folder.url("authority").path)]
            apps:
              calculator: { policy: policy.yaml, database: tenure.sqlite\(keys) }
              \(more)
            """, to: "tenure.yaml")
    }

    private func notes(_ testBed: SoakTestBed, database: String) throws -> String {
        try testBed.folder.write(
            """
            app: { bundleID: com.example.notes, appleID: 828838134 }
            eras: [{ name: free, model: free }]
            entitlements: { everything: { products: [com.example.notes.everything] } }
            """, to: "notes.yaml")
        return "notes: { policy: notes.yaml, database: \(database) }"
    }

    @Test func `a service refuses an app's database file that is a hard link to another app's file`() async throws {
        let testBed = try SoakTestBed()
        let (service, _) = try await testBed.start()
        #expect(await service.end(by: SIGTERM) == 0)
        try FileManager.default.linkItem(atPath: testBed.database, toPath: testBed.folder.url("notes.sqlite").path)
        let config = try apps(testBed, try notes(testBed, database: "notes.sqlite"), keys: ", keys: .")
        for command in [["serve"], ["serve", "--check"]] {
            let result = try await Command.run(command + ["--config", config])
            #expect(result.status == 1 && result.errors.contains("hard link"), "\(result.errors)")
            #expect(!result.errors.contains("disk I/O error"))
        }
    }

    @Test func `an app that moves into the apps setting doesn't start if its keys stayed in the old folder`()
        async throws
    {
        let testBed = try SoakTestBed()
        let (service, port) = try await testBed.start()
        let (status, _) = await SoakClient(port: port).post(
            "/v1/sync", SoakClient.body(try testBed.appTransaction(of: "704000003000000001"), []))
        #expect(status == 200)
        #expect(await service.end(by: SIGTERM) == 0)
        let config = try apps(testBed)
        let moved = try await Command.run("serve", "--config", config)
        #expect(moved.status == 1 && moved.errors.contains("keys/calculator/signing-key.json"), "\(moved.errors)")
        #expect(moved.errors.contains("they were in `"), "\(moved.errors)")
        #expect(moved.errors.contains(":\(testBed.folder.path)`"), "\(moved.errors)")
        #expect(moved.errors.contains("set `keys` to that folder; each app below `apps` has its own"))
        let keys = testBed.folder.url("keys/calculator").path
        #expect((try? FileManager.default.contentsOfDirectory(atPath: keys))?.isEmpty ?? true)
        // The service starts with the folder that the message recommends.
        let working = try RunningCommand(["serve", "--config", try apps(testBed, keys: ", keys: .")])
        #expect(try await working.port() != nil, "\(working.errors)")
        #expect(await working.end(by: SIGTERM) == 0)
    }

    @Test func `of two simultaneous migrations to one target, one moves its database completely and one is refused`()
        async throws
    {
        let first = try SoakTestBed()
        let second = try SoakTestBed(authority: first.authority)
        for testBed in [first, second] {
            let (service, port) = try await testBed.start()
            for number in 1...20 {
                let (status, _) = await SoakClient(port: port).post(
                    "/v1/sync", SoakClient.body(try testBed.appTransaction(of: "7040000030000000\(10 + number)"), []))
                #expect(status == 200)
            }
            #expect(await service.end(by: SIGTERM) == 0)
        }
        let dumps = [try await first.databaseCommand("dump").output, try await second.databaseCommand("dump").output]
        #expect(dumps.allSatisfy { $0.split(separator: "\n").count > 20 } && dumps[0] != dumps[1])
        let target = try PostgresServer.shared().url("schema=\(Self.fresh())")
        async let one = first.databaseCommand("migrate", "--to", target)
        async let other = second.databaseCommand("migrate", "--to", target)
        let results = [try await one, try await other]
        #expect(results.map(\.status).sorted() == [0, 1], "\(results.map(\.errors))")
        let loser = try #require(results.first { $0.status == 1 })
        #expect(loser.errors.contains("the target isn't empty"), "\(loser.errors)")
        #expect(!loser.errors.contains("pkey"))
        let lost = results[0].status == 1 ? 0 : 1
        #expect(try await Command.run("database", "dump", "--database", target).output == dumps[1 - lost])
        // The database that couldn't be moved is unchanged, and can still be used.
        let source = [first, second][lost]
        #expect(try await source.databaseCommand("dump").output == dumps[lost])
        let (service, _) = try await source.start()
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `a service that has keys starts on an empty schema only with --new-database`() async throws {
        let server = try PostgresServer.shared()
        let old = try SoakTestBed(database: server.url("schema=\(Self.fresh())"))
        let (service, _) = try await old.start()
        #expect(await service.end(by: SIGTERM) == 0)
        #expect(try await refusal(old, ["--new-database"]).contains("exists already; start without `--new-database`"))
        // The new URL has a mistake: its schema has no database.
        let schema = Self.fresh()
        let new = try SoakTestBed(database: server.url("schema=\(schema)"), authority: old.authority)
        for name in ["signing-key.json", "access-token.secret"] {
            try FileManager.default.copyItem(at: old.folder.url(name), to: new.folder.url(name))
        }
        let errors = try await refusal(new)
        #expect(errors.contains("its schema `\(schema)` contains no Tenure database"), "\(errors)")
        #expect(errors.contains("or start once with `--new-database`"), "\(errors)")
        let check = try await new.databaseCommand("check")
        #expect(check.status == 1 && check.errors.contains("contains no Tenure database"), "nothing was created")
        let first = try new.launch(["--new-database"])
        #expect(try await first.port() != nil, "\(first.errors)")
        #expect(await first.end(by: SIGTERM) == 0)
        let (again, _) = try await new.start()
        #expect(await again.end(by: SIGTERM) == 0)
    }

    @Test func `only a service creates keys; commands never create keys, even if the database can't be used`()
        async throws
    {
        let testBed = try SoakTestBed()
        let (service, _) = try await testBed.start()
        #expect(await service.end(by: SIGTERM) == 0)
        let keys = testBed.folder.url("new/keys").path
        func configuration(_ database: String) throws -> String {
            try testBed.folder.write(
                """
                policy: policy.yaml
                database: \(database)
                keys: new/keys
                port: 0
                trust: [\(testBed.folder.url("authority").path)]
                """, to: "tenure.yaml")
        }
        try testBed.folder.write("to my grandmother, and longer than a header of SQLite", to: "letter.txt")
        try FileManager.default.createDirectory(at: testBed.folder.url("inner"), withIntermediateDirectories: false)
        let commands: [[String]] = [
            ["serve", "--check"], ["database", "check"], ["database", "dump"], ["database", "rebuild"],
            ["database", "backup", testBed.folder.url("copy.sqlite").path], ["database", "vacuum"],
            ["database", "accept-keys"], ["admin-key", "list"], ["webhook", "log"],
            ["app-store", "test-notification"], ["app-store", "order", "--order", "MX1"],
        ]
        for command in commands {
            _ = try await Command.run(command + ["--config", try configuration("tenure.sqlite")])
            #expect(!FileManager.default.fileExists(atPath: keys), "\(command)")
        }
        for database in ["letter.txt", "inner", "no/such/tenure.sqlite"] {
            let config = try configuration(database)
            for command in commands + [["serve"]] {
                let result = try await Command.run(command + ["--config", config])
                #expect(result.status != 0, "\(database): \(command)")
                #expect(!FileManager.default.fileExists(atPath: testBed.folder.url("new").path), "\(command)")
            }
        }
        for command in [["list"], ["rotate"], ["revoke", "x"]] {
            let result = try await Command.run(["signing-key"] + command + ["--keys", keys])
            #expect(result.status == 1 && !FileManager.default.fileExists(atPath: keys), "\(command)")
        }
    }
}
