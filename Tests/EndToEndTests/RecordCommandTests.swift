import CommandRunner
import Foundation
import PostgresServer
import Testing

/// `tenure record`, as an operator runs it.
@Suite struct `tenure record` {
    /// A record filled by a service, which is over.
    private func filled(_ world: SoakWorld, customers: Int = 5) async throws {
        let (service, port) = try await world.start()
        let client = SoakClient(port: port)
        for number in 0..<customers {
            let id = "70400000\(3_000_000_000 + number)"
            let appTransaction = try world.appTransaction(of: id)
            guard case .acknowledged(.sync(let sync)) = try await client.sync(appTransaction, [], of: id) else {
                Issue.record("a sync was refused")
                return
            }
            _ = await client.beginTrial("s\(number)", of: sync)
            let uuid = UUID().uuidString.lowercased()
            _ = await client.notify(try world.notification(uuid), uuid: uuid)
        }
        // Unbound: a record beside.
        _ = await client.post(
            "/v1/sync", ["appTransaction": try world.appTransaction(of: "704000003000000000")])
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `moves to PostgreSQL and back with every byte, and every command works on both`() async throws {
        let world = try SoakWorld()
        try await filled(world)
        let dump = try await world.record("dump")
        #expect(dump.status == 0 && dump.output.split(separator: "\n").count > 30)

        let server = try PostgresServer.shared()
        let url = server.url("schema=moved_\(UInt32.random(in: .min ... .max))")
        let moved = try await world.record("migrate", "--to", url)
        #expect(moved.status == 0, "\(moved.errors)")
        #expect(moved.output.contains("customers: ") && moved.output.contains("on both sides"))
        #expect(try await Command.run("record", "dump", "--database", url).output == dump.output)

        let check = try await Command.run(["record", "check", "--database", url] + world.trust)
        #expect(check.status == 0 && check.output.contains("nothing is wrong"), "\(check.output)\(check.errors)")
        let rebuild = try await Command.run(["record", "rebuild", "--database", url] + world.trust)
        #expect(rebuild.status == 0 && rebuild.output.contains(": 0 changed"), "\(rebuild.output)\(rebuild.errors)")
        let backup = try await Command.run("record", "backup", "--database", url, world.folder.url("copy").path)
        #expect(backup.status == 1 && backup.errors.contains("pg_dump"))
        let again = try await world.record("migrate", "--to", url)
        #expect(again.status == 1 && again.errors.contains("holds a record already"))

        let back = world.folder.url("back.sqlite").path
        #expect(try await Command.run("record", "migrate", "--database", url, "--to", back).status == 0)
        #expect(try await Command.run("record", "dump", "--database", back).output == dump.output)

        // New rows get new numbers, and old tokens open the same customers.
        let there = try SoakWorld(database: url)
        // Apps trust the key: without it no service starts on a record with customers.
        let keyless = try there.launch()
        #expect(try await keyless.port() == nil)
        #expect(keyless.errors.contains("signing-key.json") && keyless.errors.contains("it is missing"))
        for name in ["signing-key.json", "access-token.secret"] {
            try FileManager.default.copyItem(at: world.folder.url(name), to: there.folder.url(name))
        }
        try await filled(there, customers: 2)
        try await there.expectHealthy()
    }

    @Test func `backs up while a service writes, and the copy is a record`() async throws {
        let world = try SoakWorld()
        let (service, port) = try await world.start()
        let load = SoakLoad(world)
        let copy = world.folder.url("copy.sqlite").path
        try await load.run(clients: 4, on: [port]) { counts in
            try await counts.reaches(20)
            let before = await load.acknowledged
            let backup = try await world.record("backup", copy)
            #expect(backup.status == 0 && backup.output.hasPrefix("copied "), "\(backup.errors)")
            let dump = try SoakDump(try await Command.run("record", "dump", "--database", copy).output)
            #expect(before.allSatisfy { dump.holds($0) })
        }
        #expect(await service.end(by: SIGTERM) == 0)
        let check = try await Command.run(["record", "check", "--database", copy] + world.trust)
        #expect(check.status == 0, "\(check.output)")
        let again = try await world.record("backup", copy)
        #expect(again.status == 1 && again.errors.contains("is there already"))
        #expect(try await world.record("backup", copy, "--force").status == 0)
    }

    @Test func `says what is wrong, and ends with 1`() async throws {
        let world = try SoakWorld()
        let none = try await world.record("check")
        #expect(none.status == 1 && none.errors.contains("there is no record at"))
        #expect(!FileManager.default.fileExists(atPath: world.database), "and makes none")
        try await filled(world, customers: 2)
        let healthy = try await Command.run(["record", "check", "--database", world.database] + world.trust)
        #expect(healthy.status == 0 && healthy.output.hasSuffix("nothing is wrong\n"))
        // Without the anchors, no artifact verifies.
        let strict = try await world.record("check")
        #expect(strict.status == 1 && strict.output.contains("cus_") && strict.output.contains("--trust"))
        let stopped = try await world.record("rebuild")
        #expect(stopped.status == 1 && stopped.output.contains("it stays as it is"))
        #expect(try await world.record("migrate", "--to", world.database).errors.contains("the target is the source"))
        let nowhere = try await world.record("dump", "--database", "postgres://tenure@127.0.0.1:1/none")
        #expect(nowhere.status == 1 && nowhere.errors.contains("cannot be reached"), "\(nowhere.errors)")
    }

    @Test func `says of what is no record that it is none, and leaves it as it is`() async throws {
        let world = try SoakWorld()
        let letter = try world.folder.write("to my grandmother, and longer than a header of SQLite", to: "letter.txt")
        let inner = world.folder.url("inner").path
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
        let before = try FileManager.default.contentsOfDirectory(atPath: world.folder.path).sorted()
        for (path, word) in [(letter, "is no database of SQLite"), (inner, "is a folder")] {
            var commands = ["check", "rebuild", "dump"].map { ["record", $0, "--database", path] }
            commands.append(["record", "backup", "--database", path, world.folder.url("copy").path])
            commands.append(["record", "migrate", "--database", path, "--to", world.folder.url("new").path])
            commands.append([
                "serve", "--policy", world.folder.url("policy.yaml").path, "--database", path, "--port", "0",
            ])
            commands.append(["serve", "--check", "--policy", world.folder.url("policy.yaml").path, "--database", path])
            for command in commands {
                let result = try await Command.run(
                    command, removing: ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("TENURE_") })
                #expect(result.status == 1, "\(command)")
                #expect(result.errors.hasPrefix("error: ") && result.errors.contains(path), "\(result.errors)")
                #expect(result.errors.contains(word), "\(result.errors)")
                #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.folder.path).sorted() == before)
    }
}
