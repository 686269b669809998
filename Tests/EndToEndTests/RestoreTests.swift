import CommandRunner
import Foundation
import Testing

/// `tenure database restore`, and starts without a database.
@Suite struct `tenure database restore` {
    /// Runs the service until it has acknowledged this many operations.
    private func serve(_ testBed: SoakTestBed, operations: Int = 10) async throws -> [SoakOperation] {
        let (service, port) = try await testBed.start()
        let load = SoakLoad(testBed)
        try await load.run(clients: 2, on: [port]) { counts in try await counts.reaches(operations) }
        #expect(await service.end(by: SIGTERM) == 0)
        return await load.acknowledged
    }

    @Test func `tenure database restore puts a backup in place, and keeps the replaced database`() async throws {
        let testBed = try SoakTestBed()
        let backup = testBed.folder.url("backup.sqlite").path
        let earlier = try await serve(testBed)
        #expect(try await testBed.databaseCommand("backup", backup).status == 0)
        let later = try await serve(testBed)
        let present = try await testBed.databaseCommand("dump").output
        let bytes = try Data(contentsOf: URL(fileURLWithPath: backup))
        let restored = try await testBed.databaseCommand("restore", backup)
        let replaced = testBed.database + ".replaced"
        #expect(restored.status == 0 && restored.output.contains("`\(replaced)`"), "\(restored.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == bytes)
        #expect(try await Command.run("database", "dump", "--database", replaced).output == present)
        let dump = try await testBed.dump()
        #expect(!earlier.isEmpty && earlier.allSatisfy { dump.holds($0) })
        #expect(later.contains { !dump.holds($0) })
        try await testBed.expectHealthy()
        // A restore of the replaced database undoes the first restore, under another name.
        #expect(try await testBed.databaseCommand("restore", replaced).output.contains("`\(replaced)-2`"))
        #expect(try await testBed.databaseCommand("dump").output == present)
        let names = try FileManager.default.contentsOfDirectory(atPath: testBed.folder.path)
        #expect(!names.contains { $0.contains(".restoring") || $0.contains(".partial") }, "\(names)")
    }

    @Test func `tenure database restore keeps a killed service's log with the replaced database`() async throws {
        let testBed = try SoakTestBed()
        let backup = testBed.folder.url("backup.sqlite").path
        let earlier = try await serve(testBed)
        #expect(try await testBed.databaseCommand("backup", backup).status == 0)
        let (service, port) = try await testBed.start()
        let load = SoakLoad(testBed)
        try await load.run(clients: 2, on: [port]) { counts in try await counts.reaches(10) }
        #expect(await service.end(by: SIGKILL) != 0)
        #expect(FileManager.default.fileExists(atPath: testBed.database + "-wal"))
        #expect(try await testBed.databaseCommand("restore", backup).status == 0)
        #expect(!FileManager.default.fileExists(atPath: testBed.database + "-wal"))
        try await testBed.expectHealthy()
        let restored = try await testBed.dump()
        #expect(!earlier.isEmpty && earlier.allSatisfy { restored.holds($0) })
        let replaced = testBed.database + ".replaced"
        let dump = try SoakDump(try await Command.run("database", "dump", "--database", replaced).output)
        #expect(await load.acknowledged.allSatisfy { dump.holds($0) })
    }

    @Test func `tenure database restore replaces a damaged database, and refuses a damaged backup`() async throws {
        let testBed = try SoakTestBed()
        let backup = testBed.folder.url("backup.sqlite").path
        _ = try await serve(testBed)
        #expect(try await testBed.databaseCommand("backup", backup).status == 0)
        let letter = try testBed.folder.write("to my grandmother, and longer than a header of SQLite", to: "letter")
        let cut = testBed.folder.url("cut").path
        try FileManager.default.copyItem(atPath: backup, toPath: cut)
        #expect(truncate(cut, 40_960) == 0)
        let before = try await testBed.databaseCommand("dump").output
        for (path, words) in [
            (letter, "isn't an SQLite database"), (cut, "can't be restored"),
            (testBed.database, "is the database itself"),
            (testBed.folder.url("none").path, "there is no backup"),
        ] {
            let result = try await testBed.databaseCommand("restore", path)
            #expect(result.status == 1 && result.errors.contains(words), "\(result.errors)")
        }
        #expect(try await testBed.databaseCommand("dump").output == before)
        try FileManager.default.removeItem(atPath: testBed.database)
        try FileManager.default.copyItem(atPath: letter, toPath: testBed.database)
        #expect(try await testBed.databaseCommand("restore", backup).status == 0)
        #expect(try await testBed.databaseCommand("dump").output == before)
        let url = "postgres://tenure@127.0.0.1:1/none"
        let server = try await Command.run("database", "restore", "--database", url, backup)
        #expect(server.status == 1 && server.errors.contains("pg_restore"))
    }

    @Test func `tenure serve with keys requires --new-database if there is no database, and otherwise refuses it`()
        async throws
    {
        let testBed = try SoakTestBed()
        _ = try await serve(testBed)
        let existing = try testBed.launch(["--new-database"])
        #expect(await existing.ended() == 1)
        #expect(existing.errors.contains("exists already; start without `--new-database`"), "\(existing.errors)")
        try FileManager.default.moveItem(atPath: testBed.database, toPath: testBed.database + ".moved")
        let missing = try testBed.launch()
        #expect(await missing.ended() == 1)
        #expect(missing.errors.contains("--new-database"), "\(missing.errors)")
        #expect(!FileManager.default.fileExists(atPath: testBed.database))
        let new = try testBed.launch(["--new-database"])
        #expect(try await new.port() != nil, "\(new.errors)")
        #expect(await new.end(by: SIGTERM) == 0)
        let again = try testBed.launch()
        #expect(try await again.port() != nil, "\(again.errors)")
        #expect(await again.end(by: SIGTERM) == 0)
    }
}
