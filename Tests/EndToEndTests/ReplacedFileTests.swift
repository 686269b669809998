import CommandRunner
import Foundation
import Testing

/// A service with an SQLite file that somebody deletes, moves or overwrites.
@Suite(.serialized) struct `a replaced database file` {
    /// What an operator does to the files of the database while the service runs.
    enum Replacement: String, CaseIterable, Sendable {
        case removed, moved, overwritten, exchanged
        case withoutLog = "without its log"
        case withoutIndex = "without its index"
        case withoutAll = "without all files"
        case emptyLog = "with an empty log"
        case garbage

        /// Whether the open database still has all rows. Otherwise it depends on what SQLite has in memory.
        var canBeSaved: Bool {
            switch self {
            case .emptyLog, .garbage: false
            default: true
            }
        }

        var leavesDatabase: Bool {
            switch self {
            case .removed, .moved, .withoutAll, .garbage: false
            default: true
            }
        }

        /// Replaces the file as an operator might do, with a backup of the running service at `backup`.
        func perform(on path: String, backup: String) throws {
            let files = FileManager.default
            switch self {
            case .removed: try files.removeItem(atPath: path)
            case .moved: try files.moveItem(atPath: path, toPath: path + ".moved")
            case .overwritten: try Tool.run("/bin/cp", [backup, path])
            case .exchanged:
                try files.copyItem(atPath: backup, toPath: path + ".new")
                try Tool.run("/bin/mv", [path + ".new", path])
            case .withoutLog: try files.removeItem(atPath: path + "-wal")
            case .withoutIndex: try files.removeItem(atPath: path + "-shm")
            case .withoutAll: for name in ["", "-wal", "-shm"] { try files.removeItem(atPath: path + name) }
            case .emptyLog: #expect(truncate(path + "-wal", 0) == 0)
            case .garbage: try Tool.run("/bin/cp", ["/proc/self/status", path])
            }
        }
    }

    private static let clients = 4

    @Test(arguments: Replacement.allCases, 1...SoakScale.replacements)
    func `a service under load stops if its database file is replaced, and saves acknowledged writes if it can`(
        replacement: Replacement, round: Int
    ) async throws {
        let testBed = try SoakTestBed()
        let backup = testBed.folder.url("backup.sqlite").path
        let (service, port) = try await testBed.start()
        let load = SoakLoad(testBed)
        try await load.run(clients: Self.clients, on: [port]) { counts in
            try await counts.reaches(20)
            try await #require(testBed.databaseCommand("backup", backup).status == 0)
            try await counts.reaches(await load.acknowledged.count + 20)
            try replacement.perform(on: testBed.database, backup: backup)
            // Later requests get no acknowledgment. Each client may have one more response that the service sent
            // before.
            let before = await load.acknowledged.count
            while await load.refusals[503, default: 0] < 20 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(await load.acknowledged.count - before <= Self.clients)
        }
        let acknowledged = await load.acknowledged
        try await expectReplaced(port, testBed, acknowledged)
        #expect(try await service.says("Stop the service"), "\(service.errors)")
        #expect(service.errors.split(separator: "\n").count { $0.contains("while it was open.") } == 1)
        #expect(await service.end(by: SIGTERM) == 0)

        let saved = testBed.database + ".saved"
        if replacement.canBeSaved {
            #expect(service.errors.contains("saved as `\(saved)`"))
            let mode = try FileManager.default.attributesOfItem(atPath: saved)[.posixPermissions]
            #expect((mode as? NSNumber)?.intValue == 0o600)
            let dump = try SoakDump(try await Command.run("database", "dump", "--database", saved).output)
            let missing = acknowledged.filter { !dump.holds($0) }
            #expect(missing.isEmpty, "\(missing.count) of \(acknowledged.count): \(missing.prefix(3))")
        }
        if replacement == .withoutIndex {
            // SQLite makes a new index from the log.
            let dump = try await testBed.dump()
            #expect(acknowledged.allSatisfy { dump.holds($0) })
        }
        try await expectRestart(of: testBed, after: replacement, restoring: replacement.canBeSaved ? saved : backup)
        if replacement.canBeSaved {
            let dump = try await testBed.dump()
            #expect(acknowledged.allSatisfy { dump.holds($0) })
        }
    }

    /// Expects what clients and load balancers see until the service restarts.
    private func expectReplaced(_ port: Int, _ testBed: SoakTestBed, _ acknowledged: [SoakOperation]) async throws {
        let client = SoakClient(port: port)
        let token = acknowledged.lazy.compactMap { if case .sync(let sync) = $0 { sync.token } else { nil } }.first
        let answers = [
            await client.post("/v1/sync", SoakClient.body(try testBed.appTransaction(of: "704000009000000000"), nil)),
            await client.get("/v1/customer", token: try #require(token)),
            await client.get("/health/ready", token: ""),
        ]
        for (status, problem) in answers {
            #expect(status == 503 && problem["reason"] as? String == "databaseReplaced", "\(status) \(problem)")
        }
        #expect(await client.get("/health/live", token: "").0 == 200)
    }

    private func expectRestart(
        of testBed: SoakTestBed, after replacement: Replacement, restoring copy: String
    ) async throws {
        if replacement.leavesDatabase {
            let (service, port) = try await testBed.start()
            #expect(await SoakClient(port: port).get("/health/ready", token: "").0 == 200)
            let refused = try await testBed.databaseCommand("restore", copy)
            #expect(refused.status == 1 && refused.errors.contains("is open in another process"), "\(refused.errors)")
            #expect(await service.end(by: SIGTERM) == 0)
            if replacement != .emptyLog { try await testBed.expectHealthy() }
        } else {
            let refused = try testBed.launch()
            #expect(try await refused.port() == nil)
        }
        let restore = try await testBed.databaseCommand("restore", copy)
        #expect(restore.status == 0 && restore.output.hasPrefix("restored "), "\(restore.errors)")
        let before = try await Command.run("database", "dump", "--database", copy).output
        #expect(try await testBed.databaseCommand("dump").output == before)
        let load = SoakLoad(testBed)
        let (service, port) = try await testBed.start()
        try await load.run(clients: 2, on: [port]) { counts in try await counts.reaches(10) }
        #expect(await service.end(by: SIGTERM) == 0)
        let dump = try await testBed.dump()
        #expect(await load.acknowledged.allSatisfy { dump.holds($0) })
        try await testBed.expectHealthy()
    }

    @Test func `a stopping service writes none of its log to a replaced database file`() async throws {
        let testBed = try SoakTestBed()
        let backup = testBed.folder.url("backup.sqlite").path
        let (service, port) = try await testBed.start()
        let load = SoakLoad(testBed)
        try await load.run(clients: 2, on: [port]) { counts in
            try await counts.reaches(10)
            try await #require(testBed.databaseCommand("backup", backup).status == 0)
            try await counts.reaches(await load.acknowledged.count + 10)
        }
        try Replacement.overwritten.perform(on: testBed.database, backup: backup)
        #expect(await service.end(by: SIGTERM) == 0)
        #expect(service.errors.contains("was overwritten while it was open"), "\(service.errors)")
        let (bytes, expected) = (
            try Data(contentsOf: URL(fileURLWithPath: testBed.database)),
            try Data(contentsOf: URL(fileURLWithPath: backup))
        )
        #expect(bytes == expected)
        #expect(!FileManager.default.fileExists(atPath: testBed.database + "-wal"))
    }

    // Other processes that read or copy the log change the files, too. The service must continue.
    @Test func `tenure database dump, rebuild and backup don't look like a replaced file to a running service`()
        async throws
    {
        let testBed = try SoakTestBed()
        let (service, port) = try await testBed.start()
        let load = SoakLoad(testBed)
        try await load.run(clients: 2, on: [port]) { counts in
            for round in 1...3 {
                try await counts.reaches(round * 20)
                #expect(try await testBed.databaseCommand("dump").status == 0)
                #expect(
                    try await Command.run(["database", "rebuild", "--database", testBed.database] + testBed.trust)
                        .status == 0)
                #expect(
                    try await testBed.databaseCommand("backup", testBed.folder.url("copy-\(round)").path).status == 0)
            }
        }
        #expect(await load.refusals.isEmpty)
        #expect(await service.end(by: SIGTERM) == 0)
        #expect(!service.errors.contains("while it was open"))
        let names = try FileManager.default.contentsOfDirectory(atPath: testBed.folder.path)
        #expect(!names.contains { $0.contains(".saved") }, "\(names)")
    }
}
