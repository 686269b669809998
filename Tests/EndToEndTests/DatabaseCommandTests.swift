import CommandRunner
import Foundation
import PostgresServer
import TenureStore
import Testing

/// `tenure database`, as an operator runs it.
@Suite struct `tenure database` {
    /// A database that a service filled before it stopped.
    private func filled(_ testBed: SoakTestBed, customers: Int = 5) async throws {
        let (service, port) = try await testBed.start()
        let client = SoakClient(port: port)
        for number in 0..<customers {
            let id = "70400000\(3_000_000_000 + number)"
            let appTransaction = try testBed.appTransaction(of: id)
            guard case .acknowledged(.sync(let sync)) = try await client.sync(appTransaction, [], of: id) else {
                Issue.record("a sync was refused")
                return
            }
            _ = await client.beginTrial("s\(number)", of: sync)
            let uuid = UUID().uuidString.lowercased()
            _ = await client.notify(try testBed.notification(uuid), uuid: uuid)
        }
        // Unbound artifacts create a separate customer.
        _ = await client.post(
            "/v1/sync", ["appTransaction": try testBed.appTransaction(of: "704000003000000000")])
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `tenure database migrate moves every row to PostgreSQL and back, and commands work on both`()
        async throws
    {
        let testBed = try SoakTestBed()
        try await filled(testBed)
        let dump = try await testBed.databaseCommand("dump")
        #expect(dump.status == 0 && dump.output.split(separator: "\n").count > 30)

        let server = try PostgresServer.shared()
        let url = server.url("schema=moved_\(UInt32.random(in: .min ... .max))")
        let moved = try await testBed.databaseCommand("migrate", "--to", url)
        #expect(moved.status == 0, "\(moved.errors)")
        #expect(moved.output.contains("customers: ") && moved.output.contains("on both sides"))
        #expect(try await Command.run("database", "dump", "--database", url).output == dump.output)

        let check = try await Command.run(["database", "check", "--database", url] + testBed.trust)
        #expect(check.status == 0 && check.output.contains("nothing is wrong"), "\(check.output)\(check.errors)")
        let rebuild = try await Command.run(["database", "rebuild", "--database", url] + testBed.trust)
        #expect(rebuild.status == 0 && rebuild.output.contains(": 0 changed"), "\(rebuild.output)\(rebuild.errors)")
        let backup = try await Command.run("database", "backup", "--database", url, testBed.folder.url("copy").path)
        #expect(backup.status == 1 && backup.errors.contains("pg_dump"))
        let again = try await testBed.databaseCommand("migrate", "--to", url)
        #expect(again.status == 1 && again.errors.contains("was moved to"))
        #expect(try await testBed.databaseCommand("reopen").status == 0)
        let full = try await testBed.databaseCommand("migrate", "--to", url)
        #expect(full.status == 1 && full.errors.contains("the target isn't empty"), "\(full.errors)")

        let back = testBed.folder.url("back.sqlite").path
        #expect(try await Command.run("database", "migrate", "--database", url, "--to", back).status == 0)
        #expect(try await Command.run("database", "dump", "--database", back).output == dump.output)
        #expect(try await Command.run("database", "reopen", "--database", url).status == 0)
        for database in [back, url] {
            let options = ["--database", database]
            let check = try await Command.run(["database", "check"] + options + testBed.trust)
            #expect(check.status == 0 && check.output.contains("nothing is wrong"), "\(check.output)\(check.errors)")
            let key = try await Command.run(["admin-key", "create", "--scope", "read", "--name", "ada"] + options)
            #expect(key.status == 0 && key.output.hasPrefix("tenure_key_"), "\(key.errors)")
            #expect(try await Command.run(["admin-key", "list"] + options).output.contains("ada"))
            #expect(try await Command.run(["admin-key", "revoke", "ada"] + options).output == "revoked `ada`\n")
            #expect(try await Command.run(["webhook", "log"] + options).status == 0)
        }

        // New rows get new numbers, and old tokens open the same customers.
        let there = try SoakTestBed(database: url, authority: testBed.authority)
        // Apps trust the key, so no service starts without it on a database with customers.
        let keyless = try there.launch()
        #expect(try await keyless.port() == nil)
        #expect(keyless.errors.contains("signing-key.json") && keyless.errors.contains("the file is missing"))
        for name in ["signing-key.json", "access-token.secret"] {
            try FileManager.default.copyItem(at: testBed.folder.url(name), to: there.folder.url(name))
        }
        try await filled(there, customers: 2)
        try await there.expectHealthy()
    }

    @Test func `tenure database backup makes a valid copy while a service writes`() async throws {
        let testBed = try SoakTestBed()
        let (service, port) = try await testBed.start()
        let load = SoakLoad(testBed)
        let copy = testBed.folder.url("copy.sqlite").path
        try await load.run(clients: 4, on: [port]) { counts in
            try await counts.reaches(20)
            let before = await load.acknowledged
            let backup = try await testBed.databaseCommand("backup", copy)
            #expect(backup.status == 0 && backup.output.hasPrefix("copied "), "\(backup.errors)")
            let dump = try SoakDump(try await Command.run("database", "dump", "--database", copy).output)
            #expect(before.allSatisfy { dump.holds($0) })
        }
        #expect(await service.end(by: SIGTERM) == 0)
        let check = try await Command.run(["database", "check", "--database", copy] + testBed.trust)
        #expect(check.status == 0, "\(check.output)")
        let again = try await testBed.databaseCommand("backup", copy)
        #expect(again.status == 1 && again.errors.contains("exists already"))
        #expect(try await testBed.databaseCommand("backup", copy, "--force").status == 0)
    }

    @Test func `tenure database rebuild --dry-run counts customers with wrong facts, and changes none`() async throws {
        let testBed = try SoakTestBed()
        try await filled(testBed, customers: 2)
        try SQLiteConnection(path: testBed.database, for: .writing)
            .execute("UPDATE customers SET facts = (SELECT facts FROM customers WHERE id = 2) WHERE id = 1")
        for (options, end) in [
            (["--dry-run"], ": 1 would change\n"), (["--dry-run"], ": 1 would change\n"), ([], ": 1 changed\n"),
            (["--dry-run"], ": 0 would change\n"), ([], ": 0 changed\n"),
        ] {
            let result = try await Command.run(
                ["database", "rebuild", "--database", testBed.database] + testBed.trust + options)
            #expect(result.status == 0 && result.output.hasSuffix(end), "\(result.output)\(result.errors)")
        }
    }

    @Test func `tenure database check exits with 0 for a healthy database, and otherwise prints the problem`()
        async throws
    {
        let testBed = try SoakTestBed()
        let none = try await testBed.databaseCommand("check")
        #expect(none.status == 1 && none.errors.contains("there is no database at"))
        #expect(!FileManager.default.fileExists(atPath: testBed.database), "and makes none")
        try await filled(testBed, customers: 2)
        let healthy = try await Command.run(["database", "check", "--database", testBed.database] + testBed.trust)
        #expect(healthy.status == 0 && healthy.output.hasSuffix("nothing is wrong\n"))
        // Without the anchors, no artifact verifies.
        let strict = try await testBed.databaseCommand("check")
        #expect(strict.status == 1 && strict.output.contains("cus_") && strict.output.contains("--trust"))
        let count = strict.output.split(separator: "\n").count
        #expect(
            strict.errors.hasPrefix("error: 4 customers, ") && strict.errors.hasSuffix(": \(count) findings\n"),
            "\(strict.errors)")
        let stopped = try await testBed.databaseCommand("rebuild")
        #expect(stopped.status == 1 && stopped.output.contains("the customer's facts stay unchanged"))
        #expect(stopped.output.hasSuffix("4 customers: 0 changed\n"), "\(stopped.output)")
        #expect(stopped.errors == "error: 4 customers couldn't be rebuilt\n")
        #expect(
            try await testBed.databaseCommand("migrate", "--to", testBed.database).errors.contains(
                "the target is the source"))
        let nowhere = try await testBed.databaseCommand("dump", "--database", "postgres://tenure@127.0.0.1:1/none")
        #expect(nowhere.status == 1 && nowhere.errors.contains("can't be reached"), "\(nowhere.errors)")
    }

    @Test func `tenure database refuses a file that isn't a Tenure database, and leaves it unchanged`() async throws {
        let testBed = try SoakTestBed()
        let letter = try testBed.folder.write("to my grandmother, and longer than a header of SQLite", to: "letter.txt")
        let inner = testBed.folder.url("inner").path
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
        let before = try FileManager.default.contentsOfDirectory(atPath: testBed.folder.path).sorted()
        for (path, word) in [(letter, "isn't an SQLite database"), (inner, "is a folder")] {
            var commands = ["check", "rebuild", "dump"].map { ["database", $0, "--database", path] }
            commands.append(["database", "backup", "--database", path, testBed.folder.url("copy").path])
            commands.append(["database", "migrate", "--database", path, "--to", testBed.folder.url("new").path])
            commands.append([
                "serve", "--policy", testBed.folder.url("policy.yaml").path, "--database", path, "--port", "0",
            ])
            commands.append([
                "serve", "--check", "--policy", testBed.folder.url("policy.yaml").path, "--database", path,
            ])
            for command in commands {
                let result = try await Command.run(
                    command, removing: ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("TENURE_") })
                #expect(result.status == 1, "\(command)")
                #expect(result.errors.hasPrefix("error: ") && result.errors.contains(path), "\(result.errors)")
                #expect(result.errors.contains(word), "\(result.errors)")
                #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: testBed.folder.path).sorted() == before)
    }
}
