import CommandRunner
import Foundation
import PostgresServer
import TenurePostgres
import TenureStore
import Testing

/// Services of two releases with one database, and databases that are moved under load.
@Suite(.serialized) struct `a service with a database that changes` {
    /// The database of the service: SQLite, PostgreSQL, or PostgreSQL behind PgBouncer.
    enum Kind: String, CaseIterable, Sendable {
        case sqlite, postgres, pooled
    }

    /// Returns an opening with a migration that only these tests have.
    private static func opening(oldestWriter: Int?) -> DatabaseOpening {
        let version = Migration.all.count + 1
        let step = Migration(
            "\(version) test", version: version, oldestWriter: oldestWriter, oldestReader: 1,
            [.shared("CREATE TABLE added (id INTEGER PRIMARY KEY) STRICT")])
        return DatabaseOpening(bundleID: "com.example.calculator", migrations: Migration.all + [step])
    }

    @Test(arguments: Kind.allCases, [1, nil])
    func `when a newer release migrates the database, an older service writes only if the release permits it`(
        kind: Kind, oldestWriter: Int?
    ) async throws {
        let server = try PostgresServer()
        let pooler = try PgBouncer(before: server, mode: .transaction, connections: 8)
        let database: String? =
            switch kind {
            case .sqlite: nil
            case .postgres: server.url()
            case .pooled: pooler.url()
            }
        let testBed = try SoakTestBed(database: database)
        let (service, port) = try await testBed.start()
        let load = SoakLoad(testBed)
        let opening = Self.opening(oldestWriter: oldestWriter)
        try await load.run(clients: 4, on: [port]) { counts in
            try await counts.reaches(30)
            let new: Store =
                if kind == .sqlite {
                    Store(try SQLiteDatabase(path: testBed.database, opening))
                } else {
                    Store(try await PostgresDatabase(PostgresAddress(server.url()), opening))
                }
            let acknowledged = await load.acknowledged.count
            if oldestWriter == nil {
                while await load.refusals[503, default: 0] < 30 { try await Task.sleep(for: .milliseconds(10)) }
                #expect(await load.acknowledged.count - acknowledged <= 4)
            } else {
                try await counts.reaches(acknowledged + 30)
            }
            try await new.close()
        }
        let client = SoakClient(port: port)
        let sync = await client.post(
            "/v1/sync", SoakClient.body(try testBed.appTransaction(of: "704000004000000001"), nil))
        let ready = await client.get("/health/ready", token: "")
        if oldestWriter == nil {
            for (status, problem) in [sync, ready] {
                #expect(status == 503 && problem["reason"] as? String == "databaseNewer", "\(status) \(problem)")
            }
            // The new release still permits older processes to read.
            let token = await load.acknowledged.lazy.compactMap {
                if case .sync(let sync) = $0 { sync.token } else { nil }
            }.first
            #expect(await client.get("/v1/customer", token: try #require(token)).0 == 200)
            let old = try testBed.launch()
            #expect(try await old.port() == nil)
            #expect(old.errors.contains("written by a newer release"), "\(old.errors)")
        } else {
            #expect(sync.0 == 200 && ready.0 == 200, "\(sync) \(ready)")
            let refusals = await load.refusals
            #expect(refusals.isEmpty, "\(refusals)")
        }
        #expect(await service.end(by: SIGTERM) == 0)
        // This release may still read the database.
        let dump = try await testBed.dump()
        let acknowledged = await load.acknowledged
        let missing = acknowledged.filter { !dump.holds($0) }
        #expect(missing.isEmpty, "\(missing.count) of \(acknowledged.count): \(missing.prefix(3))")
    }

    @Test(arguments: [Kind.sqlite, .postgres])
    func `a database that is moved under load has every write that its service acknowledged`(kind: Kind) async throws {
        let server = try PostgresServer()
        let testBed = try SoakTestBed(database: kind == .sqlite ? nil : server.url("schema=source"))
        let target = kind == .sqlite ? server.url("schema=target") : testBed.folder.url("target.sqlite").path
        let place = kind == .sqlite ? "postgres://127.0.0.1:\(server.port)/postgres?schema=target" : target
        let (service, port) = try await testBed.start()
        let load = SoakLoad(testBed)
        try await load.run(clients: 4, on: [port]) { counts in
            try await counts.reaches(50)
            let moved = try await testBed.databaseCommand("migrate", "--to", target)
            #expect(moved.status == 0, "\(moved.errors)")
            let before = await load.refusals[503, default: 0]
            while await load.refusals[503, default: 0] < before + 20 { try await Task.sleep(for: .milliseconds(10)) }
        }
        let acknowledged = await load.acknowledged
        let dump = try SoakDump(try await Command.run("database", "dump", "--database", target).output)
        let missing = acknowledged.filter { !dump.holds($0) }
        #expect(missing.isEmpty, "\(missing.count) of \(acknowledged.count): \(missing.prefix(3))")
        let client = SoakClient(port: port)
        for (status, problem) in [
            await client.post("/v1/sync", SoakClient.body(try testBed.appTransaction(of: "704000004000000001"), nil)),
            await client.get("/health/ready", token: ""),
        ] {
            #expect(status == 503 && problem["reason"] as? String == "databaseMoved", "\(status) \(problem)")
            #expect((problem["detail"] as? String)?.contains(place) == true, "\(problem)")
        }
        #expect(await service.end(by: SIGTERM) == 0)
        let again = try testBed.launch()
        #expect(try await again.port() == nil)
        #expect(again.errors.contains(place) && again.errors.contains("tenure database reopen"), "\(again.errors)")
        let twice = try await testBed.databaseCommand("migrate", "--to", target)
        #expect(twice.status == 1 && twice.errors.contains("was moved to"), "\(twice.errors)")
        // The operator gives up the move: the source accepts writes again.
        let reopened = try await testBed.databaseCommand("reopen")
        #expect(reopened.status == 0 && reopened.output.contains(place), "\(reopened.errors)")
        #expect(try await testBed.databaseCommand("reopen").status == 1)
        let (old, oldPort) = try await testBed.start()
        #expect(await SoakClient(port: oldPort).get("/health/ready", token: "").0 == 200)
        #expect(await old.end(by: SIGTERM) == 0)
    }
}
