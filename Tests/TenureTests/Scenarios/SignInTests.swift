import Foundation
import InProcessDevices
import LocalAppStore
import StoreKit
import TenureCore
import TenurePolicyFile
import Testing

@testable import Tenure

private let examples = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("../../../Examples/scenarios").standardizedFileURL

/// StoreKit on a device with changing accounts: Ada paid in 2014, Dana came later, Emre made an in-app purchase.
@Suite struct `Another customer on the same device` {
    private func onAdasDevice(
        _ body: @escaping @Sendable (LocalStore, @Sendable () -> Tenure) async throws -> Void
    ) async throws {
        let scenario = try ScenarioReader.read(
            Array(Data(contentsOf: examples.appendingPathComponent("calculator-disaster.yaml"))),
            named: "calculator-disaster.yaml")
        let policy = try PolicyFile.read(
            Array(Data(contentsOf: examples.appendingPathComponent("calculator.policy.yaml"))),
            named: "calculator.policy.yaml")
        let store = LocalAppStore(
            scenario.header.state, signer: AppStoreSigner(authority: RealService.authority)
        ) { _, _, _ in .success }
        try await scenario.perform(in: store)
        let now = await store.state.now
        let time = TestTime(now)
        let storage = MemoryStateStorage()
        let device = try await LocalStore(store, customer: "Ada")
        try await device.run {
            try await body(device) {
                var setup = Setup(access: StoreKitAccess(), storage: storage, policy: .policy(policy))
                setup.extendTimeouts()
                setup.clock = { time.now }
                setup.sleep = { try await time.sleep($0) }
                return Tenure(setup)
            }
        }
    }

    @Test func `another customer who signs in has their own purchases, and not the first customer's acquisition`()
        async throws
    {
        try await onAdasDevice { device, start in
            #expect(await start().allows("everything"))
            // StoreKit still shows Ada's app transaction; Emre's purchases are there at once.
            device.signIn(as: "Emre")
            let tenure = start()
            let customer = await tenure.settled()
            #expect(customer.has("everything"))
            #expect(customer.answers["everything"]?.reasons.first?.code == "product")
            #expect(customer.acquisition == nil)
            #expect(
                customer.steps.first { $0.name == .appTransaction }?.outcome
                    == .failed(
                        "the app transaction belongs to another account than the purchases; Restore Purchases refreshes it"
                    ))
            #expect(device.signInRequests == 0)
            // The same holds at the next start, even while StoreKit fails to list purchases.
            device.behavior.transactions = .fails(.unknown)
            let again = start()
            _ = await again.settled()
            #expect(await again.decision(for: "everything").reasons.first?.code == "product")
            #expect(again.acquisition == nil)
        }
    }

    @Test func `restoring purchases recognizes that another customer signed in on the device`() async throws {
        try await onAdasDevice { device, start in
            let tenure = start()
            #expect(await tenure.allows("everything"))
            device.signIn(as: "Dana")
            await tenure.restore()
            #expect(await !tenure.allows("everything"))
            #expect(await tenure.decision(for: "everything").outcome == .denied)
            #expect(device.signInRequests == 1)
            device.signIn(as: "Ada")
            await tenure.restore()
            #expect(await tenure.allows("everything"))
        }
    }

    @Test func `a second customer without purchases keeps the first customer's right until they restore purchases`()
        async throws
    {
        try await onAdasDevice { device, start in
            #expect(await start().allows("everything"))
            device.signIn(as: "Dana")
            let tenure = start()
            _ = await tenure.settled()
            #expect(await tenure.allows("everything"), "an empty list doesn't prove another account")
            await tenure.restore()
            #expect(await !tenure.allows("everything"))
        }
    }

    @Test func `an owner who returns to the device has everything again, without a sign-in prompt`() async throws {
        try await onAdasDevice { device, start in
            #expect(await start().allows("everything"))
            device.signIn(as: "Emre")
            #expect(await start().settled().acquisition == nil)
            device.signIn(as: "Ada")
            let tenure = start()
            _ = await tenure.settled()
            #expect(await tenure.decision(for: "everything").reasons.first?.code == "eraHonored")
            #expect(device.signInRequests == 0)
        }
    }

    @Test func `restoring purchases with a canceled sign-in changes nothing, even for another customer`() async throws {
        try await onAdasDevice { device, start in
            let tenure = start()
            #expect(await tenure.allows("everything"))
            device.behavior.signIn = .isCancelled
            #expect(await tenure.restore().signIn == .canceled)
            #expect(await tenure.allows("everything"))
            device.signIn(as: "Dana")
            #expect(await tenure.restore().signIn == .canceled)
            #expect(await tenure.allows("everything"))
            #expect(await tenure.decision(for: "everything").reasons.first?.code == "eraHonored")
            device.behavior.signIn = .succeeds
            await tenure.restore()
            #expect(await !tenure.allows("everything"))
        }
    }
}
