import CommandRunner
import Foundation
import PostgresServer
import TenureCore
import Testing

/// A service with a primary server and a synchronous standby.
@Suite(.serialized) struct `a failover to a synchronous standby` {
    /// How the primary server fails.
    enum Failure: String, CaseIterable, Sendable {
        /// Without shutting down.
        case stopped
        /// It accepts connections, never answers, and wakes up later.
        case frozen
    }

    @Test(.timeLimit(.minutes(60)), arguments: Failure.allCases)
    func `a failover to a synchronous standby loses no acknowledged write`(failure: Failure) async throws {
        // Standbys copy this setting, and have it after they are promoted.
        let settings = PostgresServer.primarySettings.merging(["synchronous_standby_names": "*"]) { $1 }
        var primary = try PostgresServer(settings: settings, access: PostgresServer.standbyAccess)
        var standby = try primary.standby()
        var testBed = try SoakTestBed(database: primary.url())
        let load = SoakLoad(testBed)
        for _ in 0..<SoakScale.failovers {
            let (old, new) = (primary, standby)
            testBed.database = "postgres://tenure@127.0.0.1:\(old.port),127.0.0.1:\(new.port)/postgres"
            let (service, port) = try await testBed.start()
            let known = await load.acknowledged.count
            let next = Locked<PostgresServer?>(nil)
            try await load.run(clients: 4, on: [port]) { counts in
                try await counts.reaches(known + 50)
                if failure == .frozen { try old.freeze() } else { try old.stop(.immediate) }
                try new.promote()
                let promoted = ContinuousClock.now
                // The new primary acknowledges no write until it has a standby, too.
                let another = try new.standby()
                next.withLock { $0 = another }
                try await counts.reaches(await load.acknowledged.count + 20)
                #expect(ContinuousClock.now - promoted < .seconds(30))
                // The old primary must get no writes after it wakes up. The check of the dump below would miss them.
                if failure == .frozen { try old.thaw() }
                try await counts.reaches(await load.acknowledged.count + 100)
            }
            #expect(await service.end(by: SIGTERM) == 0)
            if failure == .frozen { try old.stop(.immediate) }
            primary = new
            standby = try #require(next.withLock { $0 })
        }
        testBed.database = primary.url()
        let dump = try await testBed.dump()
        let acknowledged = await load.acknowledged
        let missing = acknowledged.filter { !dump.holds($0) }
        #expect(missing.isEmpty, "\(missing.count) of \(acknowledged.count): \(missing.prefix(3))")
        #expect(await load.wrongAnswers == [])
        let refusals = await load.refusals
        #expect(Set(refusals.keys).isSubset(of: [503]), "\(refusals)")
        try await testBed.expectHealthy()
    }
}
