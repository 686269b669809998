package import Foundation
import TenureAppStore
package import TenureCore
import TenureJSON

/// A scenario: an app, its customers, what happens to them, and what they must be able to use.
package struct Scenario: Sendable {
    package let name: String
    /// The path of the policy file, relative to the scenario's file. Nil if the scenario names no policy: then the user
    /// must, with `tenure scenario run --policy`.
    package let policy: String?
    /// The initial state of the local App Store.
    package let header: JournalHeader
    package let customers: [Customer]
    package let timeline: [Step]

    package struct Customer: Sendable, Hashable {
        package let name: String
        package let storefront: String
        package let family: String?
        /// Which artifacts the customer's app sends.
        package let shows: Showing
    }

    /// Which artifacts a customer's app can send.
    package enum Showing: String, CaseIterable, Sendable, Hashable {
        /// The app transaction and all transactions, as apps with StoreKit 2 send them.
        case appTransaction
        /// Only the receipt, as older apps send it.
        case receipt
        /// The artifacts of both.
        case both
        /// StoreKit doesn't answer, and there is no receipt.
        case nothing
    }

    /// What happens at one time, and what customers must be able to use then.
    package struct Step: Sendable {
        package enum Time: Sendable, Hashable {
            case at(Date)
            /// A number of seconds after the previous step.
            case after(TimeInterval)
        }

        package let time: Time
        /// The events, in the order of the file.
        package let events: [Event]

        /// Returns the time of this step. `now` is the store's time before the step.
        fileprivate func date(after now: Date) -> Date {
            switch time {
            case .at(let date): date
            case .after(let seconds): now.addingTimeInterval(seconds)
            }
        }
    }

    package enum Event: Sendable {
        /// An operation of the local App Store, with its file, line and column.
        case operation(AppStoreOperation, position: String)
        /// The service fetches every notification that it may have missed.
        case catchUp
        /// The service must decide as expected.
        case expect(Expectation)
    }

    /// The decision that the service must make about one customer and one entitlement.
    package struct Expectation: Sendable, Hashable {
        package let customer: String
        package let entitlement: String
        package let outcome: Decision.Outcome
        /// Whether the app is opened and sends its artifacts (`expect`), or the service decides from what it knows
        /// (`known`).
        package let opensApp: Bool
        /// The expectation's file, line and column, such as `scenario.yaml:12:7`.
        package let position: String
    }

    /// Performs the scenario's operations in a store. Throws a `ScenarioFailure` with the position in the file if an
    /// operation isn't possible.
    ///
    /// - Parameter handle: handles an event that isn't an operation. By default, these events are ignored.
    package func perform(in store: LocalAppStore, _ handle: (Event) async throws -> Void = { _ in }) async throws {
        for customer in customers {
            var parameters: [AppStoreOperation.Parameter: String] = [
                .customer: customer.name, .storefront: customer.storefront,
            ]
            parameters[.family] = customer.family
            try await store.perform(AppStoreOperation(.customer, parameters))
        }
        for step in timeline {
            try await store.perform(AppStoreOperation(.advance, [.to: step.date(after: store.state.now).rfc3339]))
            for event in step.events {
                guard case .operation(let operation, let position) = event else {
                    try await handle(event)
                    continue
                }
                do {
                    try await store.perform(operation)
                } catch {
                    throw ScenarioFailure(position: position, detail: "\(error)")
                }
            }
        }
    }
}

/// Plays a scenario: performs its operations, and compares the service's decisions with the expected ones.
package struct ScenarioRun: Sendable {
    let scenario: Scenario
    let signer: AppStoreSigner
    let service: any EntitlementService

    package init(_ scenario: Scenario, signer: AppStoreSigner, service: any EntitlementService) {
        self.scenario = scenario
        self.signer = signer
        self.service = service
    }

    /// An expectation, and whether the service met it.
    package struct Outcome: Sendable {
        package let expectation: Scenario.Expectation
        /// The time of the local App Store when the service decided.
        package let date: Date
        /// How the service's decision differs; nil if it is as expected.
        package let difference: String?
    }

    /// Plays the scenario, and returns the outcome of each expectation. Throws a `ScenarioFailure` if an operation
    /// isn't possible.
    package func play() async throws -> [Outcome] {
        try await service.withLocalStore(scenario.header, signer: signer) { store in
            var outcomes: [Outcome] = []
            try await scenario.perform(in: store) { event in
                switch event {
                case .operation: break
                case .catchUp: try await service.catchUp(from: store)
                case .expect(let expectation): outcomes.append(try await check(expectation, store))
                }
            }
            return outcomes
        }
    }

    /// Compares the service's decision with an expectation. Throws a `ScenarioFailure` if the artifacts can't be signed
    /// or the service doesn't answer.
    private func check(_ expectation: Scenario.Expectation, _ store: LocalAppStore) async throws -> Outcome {
        let now = await store.state.now
        let decisions: [String: Decision.Outcome]?
        do {
            if expectation.opensApp {
                let shows = scenario.customers.first { $0.name == expectation.customer }?.shows ?? .appTransaction
                decisions = try await service.openApp(
                    try await store.artifacts(of: expectation.customer, showing: shows), at: now)
            } else {
                decisions = try await service.outcomes(of: try await store.customer(expectation.customer), at: now)
            }
        } catch {
            throw ScenarioFailure(position: expectation.position, detail: "\(error)")
        }
        func outcome(_ difference: String?) -> Outcome {
            Outcome(expectation: expectation, date: now, difference: difference)
        }
        guard let decisions else { return outcome("the service doesn't know `\(expectation.customer)`") }
        guard let decision = decisions[expectation.entitlement] else {
            return outcome("there is no entitlement `\(expectation.entitlement)`")
        }
        return outcome(
            decision == expectation.outcome
                ? nil
                : "\(expectation.customer), \(expectation.entitlement): expected \(expectation.outcome.rawValue), got \(decision.rawValue)"
        )
    }
}

/// Why a scenario can't be played to its end: an operation isn't possible, artifacts can't be signed, or the service
/// fails.
struct ScenarioFailure: Error, Sendable, CustomStringConvertible {
    /// The file, line and column of the operation or the expectation.
    let position: String
    let detail: String

    var description: String { "\(position): \(detail)" }
}

/// The service that a scenario tests, such as Tenure's own. It gets customers' signed artifacts from their apps and
/// from the App Store, and decides which entitlements these customers have.
package protocol EntitlementService: Sendable {
    /// Runs `body` with a local App Store that begins in the state of `header`. Meanwhile, the service gets the store's
    /// notifications, and can call the store's App Store Server API.
    func withLocalStore(
        _ header: JournalHeader, signer: AppStoreSigner,
        _ body: @escaping @Sendable (LocalAppStore) async throws -> [ScenarioRun.Outcome]
    ) async throws -> [ScenarioRun.Outcome]

    /// Opens the customer's app, which sends its artifacts. Returns the service's decisions by entitlement.
    func openApp(_ device: DeviceArtifacts, at now: Date) async throws -> [String: Decision.Outcome]

    /// Returns the service's decisions by entitlement, without sending artifacts. Nil if the service doesn't know the
    /// customer.
    func outcomes(of customer: KnownCustomer, at now: Date) async throws -> [String: Decision.Outcome]?

    /// Makes the service fetch and apply every notification that it may have missed.
    func catchUp(from store: LocalAppStore) async throws
}

/// A customer, by the scenario's name and by Apple's ID.
package struct KnownCustomer: Sendable, Hashable {
    /// The customer's name in the scenario.
    let name: String
    /// The ID of the customer's app transaction; nil if they don't have the app.
    package let appTransactionID: String?
}

/// What the app on a customer's device sends to the service.
package struct DeviceArtifacts: Sendable {
    /// The customer's name in the scenario.
    package let customer: String
    /// The ID of the customer's app transaction; nil if they don't have the app.
    let appTransactionID: String?
    /// The device's `AppStore.deviceVerificationID`.
    package let deviceVerificationID: UUID
    /// The signed app transaction. Nil if the customer doesn't have the app, or if the app can't send it.
    package let appTransaction: String?
    /// The receipt, in DER. Nil under the same conditions.
    package let receipt: [UInt8]?
    /// All signed transactions that StoreKit lists. Nil if the app didn't ask StoreKit.
    package let transactions: [String]?
    /// The signed renewal info of each subscription.
    package let renewalInfos: [String]

    /// Whether there is an artifact to send.
    package var showsAnything: Bool { appTransaction != nil || receipt != nil || transactions?.isEmpty == false }
}

extension LocalAppStore {
    /// Returns the customer with this name, with the ID of their app transaction. Without `app`, uses the only app.
    func customer(_ name: String, app bundleID: String? = nil) throws -> KnownCustomer {
        let acquisition = state.acquisition(of: try state.accountIndex(name), app: try state.appIndex(bundleID))
        return KnownCustomer(name: name, appTransactionID: acquisition.map { state.id(of: $0) })
    }

    /// Returns the artifacts that the customer's first device has now. Without `app`, uses the only app.
    package func artifacts(
        of customer: String, showing: Scenario.Showing = .appTransaction, app bundleID: String? = nil
    ) throws -> DeviceArtifacts {
        let state = state
        let index = try state.accountIndex(customer)
        let app = try state.appIndex(bundleID)
        let account = state.accounts[index]
        let device = account.devices[0]
        let acquisition = state.acquisition(of: index, app: app)
        let usesStoreKit = showing == .appTransaction || showing == .both
        let hasReceipt = showing == .receipt || showing == .both
        return DeviceArtifacts(
            customer: customer, appTransactionID: acquisition.map { state.id(of: $0) }, deviceVerificationID: device,
            appTransaction: try usesStoreKit
                ? acquisition.map { try signer.appTransaction($0, in: state, for: .device(device)) } : nil,
            receipt: try hasReceipt ? acquisition.map { try signer.receipt(of: $0, in: state, device: device) } : nil,
            transactions: try usesStoreKit
                ? account.transactions.map { state.transactions[$0] }.filter { $0.app == app }
                    .map { try signer.transaction($0, in: state, for: .device(device)) } : nil,
            renewalInfos: try usesStoreKit
                ? account.subscriptions.map { state.subscriptions[$0] }.filter { $0.app == app }
                    .map { try signer.renewalInfo($0, in: state, for: .device(device)) } : [])
    }
}
