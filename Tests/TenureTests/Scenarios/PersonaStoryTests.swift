import Foundation
import LocalAppStore
import StoreKit
import TenureCore
import Testing

@testable import Tenure

/// A policy that names the marketing version, although iOS reports the build. It works in TestFlight and fails in
/// production.
@Suite(.timeLimit(.minutes(2))) struct `A persona on the device` {
    private static func policy(boundary: String) throws -> Policy {
        try Policy(
            app: Policy.App(bundleID: InventedApp.bundleID, appleID: 828_838_134),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "freemium", model: .free,
                    begins: [
                        .iOS: .at(version: AppVersion(boundary), date: nil),
                        .macOS: .at(version: AppVersion("2.0"), date: nil),
                    ]),
            ],
            buildNumbers: .increasing,
            entitlements: [
                Entitlement(
                    name: "everything", products: [.init(id: InventedApp.everything)], honors: [Honor(era: "paid")])
            ], whileUndetermined: .deny, testEnvironments: .owner)
    }

    private static let earlyBuyer = Tenure.Persona.earlyBuyer(build: "37", on: InventedApp.date("2014-05-01"))

    /// What an app with this policy allows.
    private func allows(
        _ customer: String, in environment: AppStoreEnvironment, boundary: String, persona: Tenure.Persona? = nil
    ) async throws -> (Bool, reasons: [String]) {
        let result = Locked<(Bool, [String])>((false, []))
        try await ServedStore.run(environment) { served in
            try await served.device(of: customer) { device in
                let tenure = try served.start(policy: try Self.policy(boundary: boundary)) { $0.persona = persona }
                let isAllowed = await tenure.allows("everything")
                let reasons = await tenure.decision(for: "everything").reasons.map(\.code)
                result.withLock { $0 = (isAllowed, reasons) }
                #expect(device.signInRequests == 0)
            }
        }
        return result.withLock { $0 }
    }

    @Test func `a persona on the device reveals in TestFlight a policy error that only production would show`()
        async throws
    {
        // The mistake: "2.0" is the marketing version of build 120.
        #expect(
            try await allows("Ada", in: .sandbox, boundary: "2.0").0, "without a persona, TestFlight hides the mistake")
        #expect(
            try await !allows("Ada", in: .production, boundary: "2.0").0, "the mistake denies an owner in production")
        let caught = try await allows("Ada", in: .sandbox, boundary: "2.0", persona: Self.earlyBuyer)
        #expect(!caught.0, "caught in TestFlight")
        #expect(caught.reasons.contains("persona"))
        // Corrected.
        #expect(try await allows("Ada", in: .sandbox, boundary: "120", persona: Self.earlyBuyer).0)
        #expect(try await allows("Ada", in: .production, boundary: "120").0)
    }

    @Test func `a persona with a version got the app on the Mac, and the policy's Mac boundary applies`() async throws {
        // The boundary on iOS would decide the opposite.
        for (version, boundary, isAllowed) in [("1.9", "1", true), ("2.0", "120", false)] {
            let persona = Tenure.Persona.earlyBuyer(version: version, on: InventedApp.date("2014-05-01"))
            let result = try await allows("Ada", in: .sandbox, boundary: boundary, persona: persona)
            #expect(result.0 == isAllowed && result.reasons.contains("persona"), "\(version): \(result)")
        }
    }

    @Test func `a persona on the device is ignored with production evidence`() async throws {
        let result = try await allows("Dana", in: .production, boundary: "120", persona: Self.earlyBuyer)
        #expect(!result.0)
        #expect(result.reasons.contains("personaRefused"))
    }

    @Test func `a persona on the device is ignored in a copy of the app from the App Store`() async {
        let device = Device(
            FakeStore {
                $0.app = InventedApp.newcomer(environment: .sandbox)
                $0.trustsTestAuthorities = false
            })
        #expect(await !device.start { $0.options.persona = Self.earlyBuyer }.allows("everything"))
    }

    @Test func `a grant to a persona isn't kept for a later launch in which the policy can't be loaded`() async {
        let device = Device(
            FakeStore {
                $0.distribution = .testFlight
                $0.app = InventedApp.newcomer(environment: .sandbox)
            })
        #expect(await device.start { $0.options.persona = Self.earlyBuyer }.settled().has("everything"))
        let missing = Tenure.PolicySource.file(URL(fileURLWithPath: "/nowhere/none.json"))
        for persona in [Self.earlyBuyer, nil] {
            let tenure = device.start {
                $0.policy = missing
                $0.options.persona = persona
            }
            #expect(await !tenure.settled().has("everything"))
            #expect(await !tenure.allows("everything"))
        }
    }

    @Test func `a development build reads its app transaction only with a persona, because reading can show a sign-in`()
        async
    {
        let store = FakeStore {
            $0.distribution = .development
            $0.app = InventedApp.newcomer(environment: .xcode)
        }
        let device = Device(store)
        // Reading it can show a sign-in to the developer.
        let tenure = device.start()
        #expect(await !tenure.allows("everything"))
        _ = await tenure.settled()
        _ = await tenure.decision(for: "everything")
        await tenure.refresh()
        await tenure.engine.searchAgain()
        #expect(tenure.acquisition == nil)
        #expect(store.now.appCalls == 0 && store.now.prompts == 0)
        #expect(await device.start { $0.options.persona = Self.earlyBuyer }.allows("everything"))
        #expect(store.now.appCalls == 1)
    }

    @Test func `a persona token of a service is an error in a client without a service`() throws {
        var options = Tenure.Options()
        options.persona = .token("of a service")
        #expect(throws: Tenure.Error.self) { try Tenure(policy: .policy(InventedApp.policy()), options: options) }
    }
}
