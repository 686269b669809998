import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `registered version lists in the client` {
    @Test func `a registered version list grants an entitlement until the list is unregistered`() async throws {
        let tenure = Device(FakeStore { $0.app = InventedApp.owner() }).start()
        try await tenure.register(entitlement: "cloud", versions: ["36", "37.0"])
        #expect(await tenure.allows("cloud"))
        let decision = await tenure.decision(for: "cloud")
        #expect(decision.reasons.first?.code == "registeredVersion")
        #expect(decision.reasons.first?.facts["originalAppVersion"] == ["37"])
        await tenure.unregister(entitlement: "cloud")
        #expect(await !tenure.allows("cloud"))
        // A list can't take what the policy grants.
        try await tenure.register(entitlement: "everything", versions: ["1"])
        await tenure.unregister(entitlement: "everything")
        #expect(await tenure.allows("everything"))
    }

    @Test func `a registered version list keeps the policy's reason, whether the policy grants or denies`()
        async throws
    {
        let owner = Device(FakeStore { $0.app = InventedApp.owner() }).start()
        try await owner.register(entitlement: "everything", versions: ["37"])
        #expect(await owner.decision(for: "everything").reasons.first?.code == "eraHonored")
        let denial = await owner.decision(for: "cloud")
        try await owner.register(entitlement: "cloud", versions: ["1"])
        #expect(denial.outcome == .denied)
        #expect(await owner.decision(for: "cloud") == denial)
    }

    @Test func `an entitlement that only a registered version list names is granted or denied by that list`()
        async throws
    {
        let owner = Device(FakeStore { $0.app = InventedApp.owner() }).start()
        try await owner.register(entitlement: "themes", purchasedBefore: InventedApp.date("2015-06-10"))
        #expect(await owner.allows("themes"))
        let grant = await owner.decision(for: "themes")
        #expect(grant.sentence == "“themes” is yours: you got the app early enough.")
        let facts = ["originalAppVersion": ["37"], "originalPurchaseDate": ["2014-05-01T00:00:00Z"]]
        #expect(grant.reasons == [Tenure.Answer.Reason("registeredVersion", facts)])
        let newcomer = Device(FakeStore { $0.app = InventedApp.newcomer() }).start()
        try await newcomer.register(entitlement: "themes", purchasedBefore: InventedApp.date("2015-06-10"))
        let denial = await newcomer.decision(for: "themes")
        #expect(denial.outcome == .denied)
        #expect(denial.reasons == [Tenure.Answer.Reason("notRegistered")] && denial.nextSteps.isEmpty)
        #expect(
            denial.sentence
                == "“themes” isn't included with your copy of the app: it was included only for people who got the app earlier. If this seems wrong, please contact our support team."
        )
        #expect(await !newcomer.allows("themes"))
    }

    @Test func `a registered version list denies nothing without an app transaction`() async throws {
        let tenure = Device(FakeStore { $0.appBehavior = .throwsAnError }).start()
        try await tenure.register(entitlement: "themes", versions: ["37"])
        #expect(await tenure.decision(for: "themes").outcome == .undetermined)
        #expect(await tenure.allows("themes"))
    }

    @Test func `registered version lists are ignored in Sandbox`() async throws {
        let tenure = Device(FakeStore { $0.app = InventedApp.owner(environment: .sandbox) }).start()
        try await tenure.register(entitlement: "themes", versions: ["37"])
        #expect(await !tenure.allows("themes"))
    }

    @Test func `a registered version list applies at an offline start, by the stored app transaction`() async throws {
        let device = Device(FakeStore { $0.app = InventedApp.owner() })
        _ = await device.start().settled()
        device.store.change {
            $0.appBehavior = .throwsAnError
            $0.transactionsBehavior = .throwsAnError
        }
        let again = device.start()
        try await again.register(entitlement: "themes", versions: ["37"])
        #expect(await again.allows("themes"))
    }
}
