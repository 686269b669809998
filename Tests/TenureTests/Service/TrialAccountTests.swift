import Foundation
import Testing

@testable import Tenure

@Suite struct TrialAccountTests {
    @Test func `the access token for the service's API is renewed once it has expired, after an hour`() async throws {
        try await RealService.run { service in
            let device = service.device(try .newcomer())
            let tenure = device.start()
            _ = await tenure.settled()
            for (seconds, syncs) in [(0.0, 1), (3599, 1), (3600, 2)] {
                device.time.now = InventedApp.now.addingTimeInterval(seconds)
                #expect(await tenure.engine.validToken(isFresh: false) != nil)
                #expect(service.line.syncs == syncs, "after \(seconds) seconds")
            }
            #expect(await tenure.engine.validToken(isFresh: true) != nil)
            #expect(service.line.syncs == 3)
        }
    }

    @Test func `a service counts no trial session for the account that was signed in before`() async throws {
        try await RealService.run { service in
            let device = service.device(try .newcomer()) { $0.options.whileUndetermined = .deny }
            let tenure = device.start()
            _ = await tenure.settled()
            #expect(try await tenure.trial("everything").begin().sessionsLeft == 1)
            func requests() -> Int { service.line.paths.count { $0.contains("/v1/trials/") } }
            #expect(requests() == 1)

            let other = try InventedApp.signed(InventedApp.newcomer(id: "704000000000000003"))
            device.store.change { $0.app = other }
            service.line.condition = .rejecting("/v1/sync")
            await tenure.engine.searchAgain()
            _ = try? await tenure.trial("everything").begin()
            #expect(requests() == 1)

            service.line.condition = .up
            await tenure.engine.searchAgain()
            #expect(try await tenure.trial("everything").begin().sessionsLeft == 1)
        }
    }
}
