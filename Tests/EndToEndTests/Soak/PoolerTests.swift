import CommandRunner
import Foundation
import PostgresServer
import Testing

/// The services of two apps, which share the connections of PgBouncer in transaction mode.
@Suite(.serialized) struct `two apps behind PgBouncer` {
    /// An app with its database behind the pooler, and the clients of its service.
    private struct App: Sendable {
        let testBed: SoakTestBed
        /// The same database, past the pooler.
        let direct: String
        let load: SoakLoad

        init(_ bundleID: String, schema: String, _ pooler: PgBouncer, _ server: PostgresServer) throws {
            testBed = try SoakTestBed(database: pooler.url("schema=\(schema)"), bundleID: bundleID)
            direct = server.url("schema=\(schema)")
            load = SoakLoad(testBed)
        }

        /// Serves until the app's clients have had more responses, then ends.
        func serve(requests: Int, endingBy signal: Int32) async throws {
            let (service, port) = try await testBed.start()
            let identifier = service.identifier
            let known = await load.acknowledged.count
            try await load.run(clients: 4, on: [port]) { counts in
                try await counts.reaches(known + requests)
                if signal == SIGKILL { kill(identifier, SIGKILL) }
            }
            if signal == SIGKILL {
                _ = await service.ended()
            } else {
                #expect(await service.end(by: signal) == 0)
            }
        }

        func expectOnlyItsOwn() async throws {
            let result = try await Command.run("database", "dump", "--database", direct)
            try #require(result.status == 0, "\(result.errors)")
            let dump = try SoakDump(result.output)
            let acknowledged = await load.acknowledged
            let missing = acknowledged.filter { !dump.holds($0) }
            #expect(missing.isEmpty, "\(missing.count) of \(acknowledged.count): \(missing.prefix(3))")
            #expect(dump.artifactHashes.subtracting(await load.sent).isEmpty)
            #expect(await load.answers > 0)
            #expect(await load.wrongAnswers == [])
            // It verifies every artifact with the app's own authority and bundle ID.
            let check = try await Command.run(["database", "check", "--database", direct] + testBed.trust)
            #expect(check.status == 0, "\(check.output)\(check.errors)")
        }
    }

    @Test(.timeLimit(.minutes(60)))
    func `two apps behind PgBouncer keep their rows apart while their services are killed`() async throws {
        let server = try PostgresServer()
        // Fewer connections than the two services have together.
        let pooler = try PgBouncer(before: server, mode: .transaction, connections: 3)
        let apps = [
            try App("com.example.calculator", schema: "calculator", pooler, server),
            try App("com.example.notes", schema: "notes", pooler, server),
        ]
        for round in 0..<SoakScale.pooledKills {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, app) in apps.enumerated() {
                    let signal = round % 2 == number ? SIGKILL : SIGTERM
                    group.addTask { try await app.serve(requests: SoakScale.pooledRequests, endingBy: signal) }
                }
                try await group.waitForAll()
            }
        }
        for app in apps { try await app.expectOnlyItsOwn() }
    }
}
