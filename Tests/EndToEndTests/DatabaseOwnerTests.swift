import CommandRunner
import Foundation
import PostgresServer
import Testing

/// Databases of two apps that somebody exchanged.
@Suite(.serialized) struct `the database of another app` {
    private static let other = "com.example.notes"

    private static func schema() -> String { "e2e_\(UInt32.random(in: .min ... .max))" }

    /// Serves until one customer has synced. Returns the customer's access token.
    @discardableResult private static func fill(_ testBed: SoakTestBed, number: Int = 1) async throws -> String {
        let (service, port) = try await testBed.start()
        let token = try await sync(testBed, number: number, to: port)
        #expect(await service.end(by: SIGTERM) == 0)
        return try #require(token)
    }

    /// Returns the access token; nil if the sync was refused.
    private static func sync(_ testBed: SoakTestBed, number: Int, to port: Int) async throws -> String? {
        let id = "70400000\(4_000_000_000 + number)"
        let answer = try await SoakClient(port: port).sync(try testBed.appTransaction(of: id), nil, of: id)
        guard case .acknowledged(.sync(let sync)) = answer else { return nil }
        return sync.token
    }

    private static func expectRefused(
        _ service: RunningCommand, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        #expect(try await service.port() == nil, sourceLocation: sourceLocation)
        for name in ["com.example.calculator", other] {
            #expect(service.errors.contains("`\(name)`"), "\(service.errors)", sourceLocation: sourceLocation)
        }
        #expect(service.errors.split(separator: "\n").count == 1, sourceLocation: sourceLocation)
    }

    @Test(arguments: ["SQLite", "PostgreSQL"])
    func `a service doesn't start with the database of another app`(kind: String) async throws {
        let server = try PostgresServer.shared()
        func database() -> String? { kind == "SQLite" ? nil : server.url("schema=\(Self.schema())") }
        let first = try SoakTestBed(database: database())
        let second = try SoakTestBed(database: database(), bundleID: Self.other)
        try await Self.fill(first)
        try await Self.fill(second)
        let dumps = [try await first.databaseCommand("dump").output, try await second.databaseCommand("dump").output]
        // Each service keeps its own keys, and gets the other service's database.
        for (testBed, database) in [(first, second.database), (second, first.database)] {
            let exchanged = try RunningCommand(
                ["serve", "--policy", testBed.policy, "--database", database, "--keys", testBed.folder.path]
                    + ["--port", "0", "--log-level", "error"] + testBed.trust)
            try await Self.expectRefused(exchanged)
        }
        #expect(
            [try await first.databaseCommand("dump").output, try await second.databaseCommand("dump").output] == dumps)
    }

    @Test func `of two services of different apps with one database URL, the second service doesn't start`()
        async throws
    {
        let server = try PostgresServer()
        let first = try SoakTestBed(database: server.url())
        let second = try SoakTestBed(database: server.url(), bundleID: Self.other)
        let (service, port) = try await first.start()
        try await Self.expectRefused(try second.launch())
        #expect(try await Self.sync(first, number: 1, to: port) != nil)
        #expect(await service.end(by: SIGTERM) == 0)
    }

    @Test func `requests get 503 with wrongDatabase while a pooler leads to another app's database`() async throws {
        let server = try PostgresServer()
        let addresses = ["first", "second"].map { server.url(database: $0) }
        for name in ["first", "second"] { try server.createDatabase(name) }
        let second = try SoakTestBed(database: addresses[1], bundleID: Self.other)
        for number in 1...3 { try await Self.fill(second, number: number) }
        let foreign = try await second.databaseCommand("dump").output
        let pooler = try PgBouncer(before: server, mode: .transaction, connections: 4, shop: "first")
        let first = try SoakTestBed(database: pooler.url(database: "shop"))
        let (service, port) = try await first.start()
        let load = SoakLoad(first)
        try await load.run(clients: 4, on: [port]) { counts in
            try await counts.reaches(30)
            try pooler.lead(to: server, database: "second")
            while await load.refusals[503, default: 0] < 30 { try await Task.sleep(for: .milliseconds(10)) }
        }
        let client = SoakClient(port: port)
        let acknowledged = await load.acknowledged
        let token = acknowledged.lazy.compactMap { if case .sync(let sync) = $0 { sync.token } else { nil } }.first
        let answers = [
            await client.post("/v1/sync", SoakClient.body(try first.appTransaction(of: "704000004000000001"), nil)),
            await client.get("/v1/customer", token: try #require(token)),
            await client.get("/health/ready", token: ""),
        ]
        for (status, problem) in answers {
            #expect(status == 503 && problem["reason"] as? String == "wrongDatabase", "\(status) \(problem)")
            #expect(!"\(problem)".contains(Self.other) && !"\(problem)".contains("postgres"), "\(problem)")
        }
        #expect(service.errors.contains("`\(Self.other)`") && service.errors.contains("`com.example.calculator`"))
        #expect(try await second.databaseCommand("dump").output == foreign)
        // The service works again without a restart when the pooler leads to its own database.
        try pooler.lead(to: server, database: "first")
        while await client.get("/health/ready", token: "").0 != 200 { try await Task.sleep(for: .milliseconds(50)) }
        #expect(await client.get("/v1/customer", token: try #require(token)).0 == 200)
        #expect(try await Self.sync(first, number: 9, to: port) != nil)
        #expect(await service.end(by: SIGTERM) == 0)
        let dump = try SoakDump(try await Command.run("database", "dump", "--database", addresses[0]).output)
        let missing = acknowledged.filter { !dump.holds($0) }
        #expect(missing.isEmpty, "\(missing.count) of \(acknowledged.count): \(missing.prefix(3))")
        let refusals = await load.refusals
        #expect(Array(refusals.keys) == [503], "\(refusals)")
    }

    @Test func `tenure database restore and migrate never overwrite another app's database`() async throws {
        let first = try SoakTestBed()
        let second = try SoakTestBed(bundleID: Self.other)
        try await Self.fill(first)
        try await Self.fill(second)
        let backup = second.folder.url("backup.sqlite").path
        #expect(try await second.databaseCommand("backup", backup).status == 0)
        let before = try await first.databaseCommand("dump").output
        let restore = try await first.databaseCommand("restore", backup)
        #expect(restore.status == 1)
        for name in ["com.example.calculator", Self.other] { #expect(restore.errors.contains("`\(name)`")) }
        #expect(try await first.databaseCommand("dump").output == before)
        let server = try PostgresServer.shared()
        let url = server.url("schema=\(Self.schema())")
        let there = try SoakTestBed(database: url, bundleID: Self.other)
        try await Self.fill(there)
        for target in [url, second.database] {
            let content = try await Command.run("database", "dump", "--database", target).output
            let migrate = try await first.databaseCommand("migrate", "--to", target)
            #expect(migrate.status == 1)
            for name in ["com.example.calculator", Self.other] {
                #expect(migrate.errors.contains("`\(name)`"), "\(migrate.errors)")
            }
            #expect(try await Command.run("database", "dump", "--database", target).output == content)
        }
        // The source didn't change, so a service can start on it.
        try await Self.fill(first, number: 2)
    }
}
