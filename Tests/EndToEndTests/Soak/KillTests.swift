import CommandRunner
import Foundation
import PostgresServer
import Testing

/// A service that is killed at any instant loses nothing that it acknowledged.
@Suite(.serialized) struct `kill -9 under load` {
    @Test(.timeLimit(.minutes(60))) func `kill -9 under load on SQLite loses nothing that was acknowledged`()
        async throws
    {
        try await soak(try SoakTestBed())
    }

    @Test(.timeLimit(.minutes(60))) func `kill -9 under load on PostgreSQL loses nothing that was acknowledged`()
        async throws
    {
        let server = try PostgresServer()
        try await soak(try SoakTestBed(database: server.url()))
    }

    // Simulates a power failure of the machine.
    @Test(.timeLimit(.minutes(60)))
    func `if PostgreSQL stops under load, no acknowledged write is lost, and the service recovers in 5 s`() async throws
    {
        let server = try PostgresServer()
        let testBed = try SoakTestBed(database: server.url())
        let load = SoakLoad(testBed)
        let (service, port) = try await testBed.start()
        try await load.run(clients: 8, on: [port]) { counts in
            for outage in 1...SoakScale.outages {
                try await counts.reaches(outage * 100)
                try server.stop(.immediate)
                try server.start()
                let returned = ContinuousClock.now
                let before = await load.acknowledged.count
                try await counts.reaches(before + 20)
                #expect(ContinuousClock.now - returned < .seconds(5))
            }
        }
        // All of them are responses of the service. It never broke a connection, and failed only while the database was
        // down.
        let refusals = await load.refusals
        #expect(Set(refusals.keys).isSubset(of: [503]), "\(refusals)")
        try await expectKept(await load.acknowledged, in: testBed, by: (service, port))
    }

    private func soak(_ testBed: SoakTestBed) async throws {
        let load = SoakLoad(testBed)
        for round in 1...SoakScale.kills {
            let (service, port) = try await testBed.start()
            let known = await load.acknowledged.count
            // One client has its response. The other clients are anywhere in their requests.
            // In the last round every client has done each kind of operation.
            let more = round == SoakScale.kills ? 100 : Int.random(in: 1...60)
            let identifier = service.identifier
            try await load.run(clients: 8, on: [port]) { counts in
                try await counts.reaches(known + more)
                kill(identifier, SIGKILL)
            }
            _ = await service.ended()
            if round.isMultiple(of: 50) { try await testBed.expectHealthy() }
        }
        let acknowledged = await load.acknowledged
        #expect(acknowledged.count >= SoakScale.kills)
        try await expectKept(acknowledged, in: testBed, by: try await testBed.start())
    }

    /// Checks the operations of the clients' log: through the service, in the dump, and by `tenure database check`.
    private func expectKept(
        _ acknowledged: [SoakOperation], in testBed: SoakTestBed, by running: (service: RunningCommand, port: Int)
    ) async throws {
        let client = SoakClient(port: running.port)
        for case .sync(let sync) in acknowledged {
            let (status, customer) = await client.get("/v1/customer", token: sync.token)
            let outcome = (customer["entitlements"] as? [String: [String: Any]])?["everything"]?["outcome"] as? String
            #expect(status == 200 && customer["id"] as? String == sync.customer && outcome == "granted")
        }
        // This runs while the service runs.
        let dump = try await testBed.dump()
        let missing = acknowledged.filter { !dump.holds($0) }
        #expect(missing.isEmpty, "\(missing.count) of \(acknowledged.count): \(missing.prefix(3))")
        for kind in ["sync", "notification", "trialSession", "grant"] {
            #expect(acknowledged.contains { "\($0)".hasPrefix(kind) }, "there was a \(kind)")
        }
        try await testBed.expectHealthy()
        #expect(await running.service.end(by: SIGTERM) == 0)
    }
}

extension AsyncStream<Int> {
    /// Returns when the count is reached. Throws if the stream or the task ends earlier.
    func reaches(_ count: Int) async throws {
        for await now in self where now >= count { return }
        throw CancellationError()
    }
}
