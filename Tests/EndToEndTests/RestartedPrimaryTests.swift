import CommandRunner
import Foundation
import PostgresServer
import Testing

/// A service that restarts after a failover keeps in its folder of keys which server was promoted last.
@Suite struct `a restart after a failover` {
    @Test func `a service restarted after a failover writes nothing to the old primary`() async throws {
        let old = try PostgresServer(settings: PostgresServer.primarySettings, access: PostgresServer.standbyAccess)
        let new = try old.standby()
        let testBed = try SoakTestBed(
            database: "postgres://tenure@127.0.0.1:\(old.port),127.0.0.1:\(new.port)/postgres")
        let (service, port) = try await testBed.start()
        func sync(_ id: String, _ port: Int) async throws -> Int {
            await SoakClient(port: port).post("/v1/sync", SoakClient.body(try testBed.appTransaction(of: id), [])).0
        }
        #expect(try await sync("704000003000000001", port) == 200)
        try old.stop(.immediate)
        try new.promote()
        var isServing = false
        for _ in 0..<100 {
            isServing = try await sync("704000003000000002", port) == 200
            if isServing { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(isServing, "the service doesn't use the new primary")
        #expect(await service.end(by: SIGTERM) == 0)
        let file = testBed.folder.url("postgres-primary.json")
        #expect(try testBed.folder.text("postgres-primary.json").contains("\"timeline\":2"))

        try new.stop(.immediate)
        try old.start()
        let refused = try testBed.launch()
        #expect(try await refused.port() == nil)
        #expect(await refused.ended() == 1)
        #expect(
            refused.errors.contains("has timeline 1, but a server with timeline 2 was promoted since"),
            "\(refused.errors)")
        #expect(refused.errors.contains("remove `\(file.path)`"), "\(refused.errors)")
        // A command that knows the service's folder of keys doesn't write there either.
        let key = ["admin-key", "create", "--scope", "read", "--name", "ada", "--database", testBed.database]
        let command = try await Command.run(key, environment: ["TENURE_KEYS": testBed.folder.path])
        #expect(command.status == 1 && command.errors.contains("stop the old primary"), "\(command.errors)")

        try Data("{".utf8).write(to: file)
        let damaged = try testBed.launch()
        #expect(await damaged.ended() == 1)
        #expect(damaged.errors.contains("`\(file.path)` can't be read"), "\(damaged.errors)")

        try FileManager.default.removeItem(at: file)
        let (permitted, permittedPort) = try await testBed.start()
        #expect(try await sync("704000003000000003", permittedPort) == 200)
        #expect(await permitted.end(by: SIGTERM) == 0)
    }
}
