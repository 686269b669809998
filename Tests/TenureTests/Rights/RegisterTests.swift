import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `Lists of versions in the client` {
    @Test func `a listed version is granted beside the policy, and taken back`() async throws {
        let tenure = Device(FakeStore { $0.app = World.owner() }).start()
        try await tenure.register(entitlement: "cloud", versions: ["36", "37.0"])
        #expect(await tenure.allows("cloud"))
        let decision = await tenure.decision(for: "cloud")
        #expect(decision.reasons.first?.code == "registeredVersion")
        #expect(decision.reasons.first?.facts["originalAppVersion"] == ["37"])
        await tenure.unregister(entitlement: "cloud")
        #expect(await !tenure.allows("cloud"))
        // What the policy grants is not the list's to take.
        try await tenure.register(entitlement: "everything", versions: ["1"])
        await tenure.unregister(entitlement: "everything")
        #expect(await tenure.allows("everything"))
    }

    @Test func `an entitlement that only lists know is answered, too`() async throws {
        let owner = Device(FakeStore { $0.app = World.owner() }).start()
        try await owner.register(entitlement: "themes", purchasedBefore: World.date("2015-06-10"))
        #expect(await owner.allows("themes"))
        let newcomer = Device(FakeStore { $0.app = World.newcomer() }).start()
        try await newcomer.register(entitlement: "themes", purchasedBefore: World.date("2015-06-10"))
        #expect(await newcomer.decision(for: "themes").outcome == .denied)
        #expect(await !newcomer.allows("themes"))
    }

    @Test func `without an app transaction a list denies nobody`() async throws {
        let tenure = Device(FakeStore { $0.appMood = .throwsAnError }).start()
        try await tenure.register(entitlement: "themes", versions: ["37"])
        #expect(await tenure.decision(for: "themes").outcome == .undetermined)
        #expect(await tenure.allows("themes"))
    }

    @Test func `in Sandbox every list would pass, so that none is read`() async throws {
        let tenure = Device(FakeStore { $0.app = World.owner(environment: .sandbox) }).start()
        try await tenure.register(entitlement: "themes", versions: ["37"])
        #expect(await !tenure.allows("themes"))
    }

    @Test func `at the next start, offline, what was kept is enough for a list`() async throws {
        let device = Device(FakeStore { $0.app = World.owner() })
        _ = await device.start().settled()
        device.store.change {
            $0.appMood = .throwsAnError
            $0.transactionsMood = .throwsAnError
        }
        let again = device.start()
        try await again.register(entitlement: "themes", versions: ["37"])
        #expect(await again.allows("themes"))
    }
}
