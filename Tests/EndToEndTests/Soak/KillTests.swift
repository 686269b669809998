import CommandRunner
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A service that is killed at any instant loses nothing that it acknowledged.
@Suite(.serialized) struct `kill -9 under load` {
    @Test func `on SQLite loses nothing that was acknowledged`() async throws {
        try await Self.soak(try SoakWorld())
    }

    static func soak(_ world: SoakWorld) async throws {
        let load = SoakLoad(world)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<SoakScale.kills {
            let (service, port) = try await world.start()
            let known = await load.acknowledged.count
            // Anything from the first answer on: the other clients are anywhere in theirs.
            let more = Int.random(in: 1...40, using: &random)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await load.run(clients: 8, on: [port]) { false } }
                group.addTask { await load.reaches(known + more) }
                // The clients go on until they are told to stop.
                try await group.next()
                _ = service.end(by: SIGKILL)
                group.cancelAll()
                try await group.waitForAll()
            }
        }
        let acknowledged = await load.acknowledged
        #expect(acknowledged.count >= SoakScale.kills)
        try await expectKept(acknowledged, in: world)
    }

    /// By the clients' own log: through the service, in the dump, and by the record's own check.
    static func expectKept(_ acknowledged: [SoakSync], in world: SoakWorld) async throws {
        let (service, port) = try await world.start()
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        for sync in acknowledged {
            let customer = try await SoakHTTP.customer(sync.token, on: port, session)
            #expect(customer["id"] as? String == sync.customer)
            let outcome = (customer["entitlements"] as? [String: [String: Any]])?["everything"]?["outcome"] as? String
            #expect(outcome == "granted")
        }
        // While the service runs.
        let dump = try world.dump()
        let missing = acknowledged.filter { !dump.holds($0) }
        #expect(missing.isEmpty, "\(missing.count) of \(acknowledged.count) acknowledged syncs are missing")
        try world.expectHealthy()
        #expect(service.end(by: SIGTERM) == 0)
    }
}
