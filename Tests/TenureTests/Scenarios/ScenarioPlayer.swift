import Foundation
import InProcessDevices
import LocalAppStore
import StoreKit
import TenureCore
import TenureJSON

@testable import Tenure

/// Plays a scenario of the local App Store with apps that use the client. Each expectation is a start of the customer's
/// app.
struct ScenarioPlayer {
    let scenario: Scenario
    let signer: AppStoreSigner
    /// The scenario's clock, for the device and for the service.
    let time: TestTime
    /// How StoreKit behaves whenever an app starts.
    var behavior = LocalStore.Behavior()
    /// Whether customers have only the artifacts that the scenario shows, such as only a receipt.
    var showsNoMore = false
    /// Sends notifications; nil if no service receives them.
    var sender: LocalAppStore.NotificationSender?
    /// Configures the app.
    let setUp: @Sendable (inout Setup) -> Void

    /// An expectation of the scenario, and the answer of the client.
    struct Outcome: Sendable {
        let place: String
        let expected: Decision.Outcome
        let answer: Tenure.Answer
        let isAllowed: Bool
        /// Whether the app's device has exactly the artifacts that the scenario shows.
        let isTold: Bool
    }

    /// The outcomes of a whole scenario.
    struct Played: Sendable {
        var outcomes: [Outcome] = []
        /// The number of calls that would have shown a sign-in.
        var prompts = 0
        /// The status code of the service's response to each notification.
        var notified: [Int] = []
        /// The number of notifications that the App Store had to send.
        var notifications = 0
    }

    func play() async throws -> Played {
        var header = scenario.header
        if sender != nil {
            for index in header.apps.indices { header.apps[index].notificationURL = "in-process:" }
        }
        let time = time
        let store = LocalAppStore(
            header.state, signer: signer, clock: { time.now = $0 }, sender: sender ?? { _, _, _ in .success })
        for customer in scenario.customers {
            var parameters: [AppStoreOperation.Parameter: String] = [
                .customer: customer.name, .storefront: customer.storefront,
            ]
            parameters[.family] = customer.family
            try await store.perform(AppStoreOperation(.customer, parameters))
        }
        var devices: [String: (store: LocalStore, storage: MemoryStateStorage)] = [:]
        var played = Played()
        for step in scenario.timeline {
            let date: Date =
                switch step.time {
                case .at(let date): date
                case .after(let seconds): await store.state.now.addingTimeInterval(seconds)
                }
            try await store.perform(AppStoreOperation(.advance, [.to: date.rfc3339]))
            for event in step.events {
                switch event {
                case .operation(let operation, _): try await store.perform(operation)
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
                // These expectations are about the service, not about the client.
                case .expect, .catchUp: break
                }
            }
        }
        played.notifications = await store.state.notifications.count
        played.prompts = devices.values.reduce(0) { $0 + $1.store.signInRequests }
        return played
    }

    /// Opens the same device each time, after the system renewed its artifacts if it could.
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
                place: expectation.position, expected: expectation.outcome,
                answer: await tenure.decision(for: expectation.entitlement),
                isAllowed: await tenure.allows(expectation.entitlement), isTold: showsNoMore || shows.isByStoreKit)
        }
    }
}

extension Scenario.Showing {
    fileprivate var isByStoreKit: Bool { self == .appTransaction || self == .both }
}

extension LocalStore.Behavior {
    /// Makes StoreKit return nothing if the scenario's customer has only a receipt, or no artifacts.
    fileprivate mutating func show(_ shows: Scenario.Showing) {
        guard !shows.isByStoreKit else { return }
        appTransaction = .fails(.unknown)
        transactions = .fails(.unknown)
        products = .fails(.unknown)
        isOffline = shows == .nothing
    }
}
