import Foundation
import LocalAppStore
import StoreKit
import TenureCore

@testable import Tenure

/// Plays a story of the local App Store with apps that use the client: each expectation is a start of the customer's app.
struct ScenarioPlayer {
    let scenario: Scenario
    let signer: StoreSigner
    /// The present of the story, for the device and for the service.
    let time: TestTime
    /// How StoreKit behaves whenever an app starts.
    var behaviour = LocalStore.Behaviour()
    /// Wires the app; the store is StoreKit's.
    let setUp: @Sendable (inout Setup) -> Void

    struct Outcome: Sendable {
        let place: String
        let expected: Decision.Outcome
        let answer: Tenure.Answer
        let isAllowed: Bool
    }

    struct Played: Sendable {
        var outcomes: [Outcome] = []
        /// Calls that would have shown a sign-in.
        var prompts = 0
    }

    func play() async throws -> Played {
        let store = LocalAppStore(scenario.founding.world, signer: signer) { _, _, _ in .success }
        time.now = scenario.founding.now
        for customer in scenario.customers {
            var particulars: [Particular: String] = [.customer: customer.name, .storefront: customer.storefront]
            particulars[.family] = customer.family
            try await store.perform(Act(.customer, particulars))
        }
        var vaults: [String: MemoryVault] = [:]
        var played = Played()
        for step in scenario.timeline {
            let date: Date =
                switch step.time {
                case .at(let date): date
                case .after(let seconds): await store.world.now.addingTimeInterval(seconds)
                }
            try await store.perform(Act(.advance, [.to: date.rfc3339]))
            time.now = date
            for event in step.events {
                switch event {
                case .act(let act, _): try await store.perform(act)
                case .expect(let expectation) where expectation.opensApp:
                    // The same device each time, with the copy that the system has renewed in between.
                    let device = try await LocalStore(store, customer: expectation.customer)
                    let vault = vaults[expectation.customer] ?? MemoryVault()
                    vaults[expectation.customer] = vault
                    played.outcomes.append(try await open(device, vault, expectation))
                    played.prompts += device.signInRequests
                // What the service knows by itself is not the client's affair.
                case .expect, .catchUp: break
                }
            }
        }
        return played
    }

    private func open(
        _ store: LocalStore, _ vault: MemoryVault, _ expectation: Scenario.Expectation
    ) async throws -> Outcome {
        store.behaviour = behaviour
        return await store.run {
            var setup = Setup(access: StoreKitAccess(), vault: vault, policy: nil)
            let time = time
            setup.clock = { time.now }
            setup.sleep = { try await time.sleep($0) }
            setUp(&setup)
            let tenure = Tenure(setup)
            _ = await tenure.settled()
            return Outcome(
                place: expectation.place, expected: expectation.outcome,
                answer: await tenure.decision(for: expectation.entitlement),
                isAllowed: await tenure.allows(expectation.entitlement))
        }
    }
}
