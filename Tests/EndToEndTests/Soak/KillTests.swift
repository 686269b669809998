import CommandRunner
import Foundation
import PostgresServer
import Testing

/// A service that is killed at any instant loses nothing that it acknowledged.
@Suite(.serialized) struct `kill -9 under load` {
    @Test(.timeLimit(.minutes(60))) func `on SQLite loses nothing that was acknowledged`() async throws {
        try await soak(try SoakWorld())
    }

    @Test(.timeLimit(.minutes(60))) func `on PostgreSQL loses nothing that was acknowledged`() async throws {
        let server = try PostgresServer()
        try await soak(try SoakWorld(database: server.url()))
    }

    // The machine's power is gone, and comes back.
    @Test(.timeLimit(.minutes(60)))
    func `PostgreSQL stopped at once under load loses nothing, and the service is back within five seconds`()
        async throws
    {
        let server = try PostgresServer()
        let world = try SoakWorld(database: server.url())
        let load = SoakLoad(world)
        let (service, port) = try await world.start()
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
        // Answers of the service, all of them: it never broke a connection, and failed only while it had to.
        let refusals = await load.refusals
        #expect(Set(refusals.keys).isSubset(of: [503]), "\(refusals)")
        try await expectKept(await load.acknowledged, in: world, by: (service, port))
    }

    private func soak(_ world: SoakWorld) async throws {
        let load = SoakLoad(world)
        for round in 1...SoakScale.kills {
            let (service, port) = try await world.start()
            let known = await load.acknowledged.count
            // One client's answer has come; the others are anywhere in theirs.
            // In the last round every client has done each kind of act.
            let more = round == SoakScale.kills ? 100 : Int.random(in: 1...60)
            let identifier = service.identifier
            try await load.run(clients: 8, on: [port]) { counts in
                try await counts.reaches(known + more)
                kill(identifier, SIGKILL)
            }
            _ = await service.ended()
            if round.isMultiple(of: 50) { try await world.expectHealthy() }
        }
        let acknowledged = await load.acknowledged
        #expect(acknowledged.count >= SoakScale.kills)
        try await expectKept(acknowledged, in: world, by: try await world.start())
    }

    /// By the clients' own log: through the service, in the dump, and by the record's own check.
    private func expectKept(
        _ acknowledged: [SoakAct], in world: SoakWorld, by running: (service: RunningCommand, port: Int)
    ) async throws {
        let client = SoakClient(port: running.port)
        for case .sync(let sync) in acknowledged {
            let (status, customer) = await client.get("/v1/customer", token: sync.token)
            let outcome = (customer["entitlements"] as? [String: [String: Any]])?["everything"]?["outcome"] as? String
            #expect(status == 200 && customer["id"] as? String == sync.customer && outcome == "granted")
        }
        // While the service runs.
        let dump = try await world.dump()
        let missing = acknowledged.filter { !dump.holds($0) }
        #expect(missing.isEmpty, "\(missing.count) of \(acknowledged.count): \(missing.prefix(3))")
        for kind in ["sync", "notification", "trialSession", "grant"] {
            #expect(acknowledged.contains { "\($0)".hasPrefix(kind) }, "there was a \(kind)")
        }
        try await world.expectHealthy()
        #expect(await running.service.end(by: SIGTERM) == 0)
    }
}

extension AsyncStream<Int> {
    /// Returns when the count is there; throws where the stream or the task ends before.
    func reaches(_ count: Int) async throws {
        for await now in self where now >= count { return }
        throw CancellationError()
    }
}
