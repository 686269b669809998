import Foundation
import LocalAppStore
import StoreKit
import TenureCore
import TenureJSON

@testable import Tenure

/// Plays a story of the local App Store with apps that use the client: each expectation is a start of the customer's app.
struct ScenarioPlayer {
    let scenario: Scenario
    let signer: StoreSigner
    /// The present of the story, for the device and for the service.
    let time: TestTime
    /// How StoreKit behaves whenever an app starts.
    var behavior = LocalStore.Behavior()
    /// Whether a customer who shows a receipt, or nothing, has no more than that.
    var showsNoMore = false
    /// Carries notifications; nil: nobody wants them.
    var courier: LocalAppStore.Courier?
    /// Wires the app; the store is StoreKit's.
    let setUp: @Sendable (inout Setup) -> Void

    struct Outcome: Sendable {
        let place: String
        let expected: Decision.Outcome
        let answer: Tenure.Answer
        let isAllowed: Bool
        /// Whether the app's device has what the story says that its customer shows, and no more.
        let isTold: Bool
    }

    struct Played: Sendable {
        var outcomes: [Outcome] = []
        /// Calls that would have shown a sign-in.
        var prompts = 0
        /// With which status the service took each notification.
        var notified: [Int] = []
    }

    func play() async throws -> Played {
        var founding = scenario.founding
        if courier != nil {
            for index in founding.apps.indices { founding.apps[index].notificationURL = "in-process:" }
        }
        let time = time
        let store = LocalAppStore(
            founding.world, signer: signer, clock: { time.now = $0 }, courier: courier ?? { _, _, _ in .success })
        for customer in scenario.customers {
            var particulars: [Particular: String] = [.customer: customer.name, .storefront: customer.storefront]
            particulars[.family] = customer.family
            try await store.perform(Act(.customer, particulars))
        }
        var devices: [String: (store: LocalStore, storage: MemoryStateStorage)] = [:]
        var played = Played()
        for step in scenario.timeline {
            let date: Date =
                switch step.time {
                case .at(let date): date
                case .after(let seconds): await store.world.now.addingTimeInterval(seconds)
                }
            try await store.perform(Act(.advance, [.to: date.rfc3339]))
            for event in step.events {
                switch event {
                case .act(let act, _): try await store.perform(act)
                case .expect(let expectation) where expectation.opensApp:
                    let device =
                        if let known = devices[expectation.customer] {
                            known
                        } else {
                            (
                                store: try await LocalStore(store, customer: expectation.customer),
                                storage: MemoryStateStorage()
                            )
                        }
                    devices[expectation.customer] = device
                    played.outcomes.append(try await open(device.store, device.storage, expectation))
                // What the service knows by itself is not the client's affair.
                case .expect, .catchUp: break
                }
            }
        }
        played.prompts = devices.values.reduce(0) { $0 + $1.store.signInRequests }
        return played
    }

    /// The same device each time, with what the system has renewed in between, where it could.
    private func open(
        _ store: LocalStore, _ storage: MemoryStateStorage, _ expectation: Scenario.Expectation
    ) async throws -> Outcome {
        let shows = scenario.customers.first { $0.name == expectation.customer }?.shows ?? .appTransaction
        store.behavior = behavior
        if showsNoMore { store.behavior.show(shows) }
        store.relaunchApp()
        await store.renewArtifacts()
        return await store.run {
            var setup = Setup(access: StoreKitAccess(), storage: storage, policy: nil)
            let time = time
            setup.clock = { time.now }
            setup.sleep = { try await time.sleep($0) }
            setUp(&setup)
            let tenure = Tenure(setup)
            _ = await tenure.settled()
            return Outcome(
                place: expectation.place, expected: expectation.outcome,
                answer: await tenure.decision(for: expectation.entitlement),
                isAllowed: await tenure.allows(expectation.entitlement), isTold: showsNoMore || shows.isByStoreKit)
        }
    }
}

extension Scenario.Showing {
    fileprivate var isByStoreKit: Bool { self == .appTransaction || self == .both }
}

extension LocalStore.Behavior {
    /// StoreKit answers nothing where a story's customer has a receipt alone, or nothing.
    fileprivate mutating func show(_ shows: Scenario.Showing) {
        guard !shows.isByStoreKit else { return }
        appTransaction = .fails(.unknown)
        transactions = .fails(.unknown)
        products = .fails(.unknown)
        isOffline = shows == .nothing
    }
}
