package import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

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
        try await service.withLocalStore(scenario.header, signer: signer) { try await play(in: $0) }
    }

    /// Performs all steps in the store, and returns the outcome of each expectation.
    private func play(in store: LocalAppStore) async throws -> [Outcome] {
        try await scenario.addCustomers(to: store)
        var outcomes: [Outcome] = []
        for step in scenario.timeline {
            let time = step.date(after: await store.state.now)
            try await store.perform(AppStoreOperation(.advance, [.to: time.rfc3339]))
            for event in step.events {
                switch event {
                case .operation(let operation, let position): try await operation.perform(in: store, at: position)
                case .catchUp: try await service.catchUp(from: store)
                case .expect(let expectation): outcomes.append(try await check(expectation, store))
                }
            }
        }
        return outcomes
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

extension Scenario {
    /// Performs the scenario's operations in a store, and ignores its expectations. Throws a `ScenarioFailure` if an
    /// operation isn't possible.
    package func perform(in store: LocalAppStore) async throws {
        try await addCustomers(to: store)
        for step in timeline {
            try await store.perform(AppStoreOperation(.advance, [.to: step.date(after: store.state.now).rfc3339]))
            for case .operation(let operation, let position) in step.events {
                try await operation.perform(in: store, at: position)
            }
        }
    }

    /// Creates the customers' accounts.
    fileprivate func addCustomers(to store: LocalAppStore) async throws {
        for customer in customers {
            var parameters: [AppStoreOperation.Parameter: String] = [
                .customer: customer.name, .storefront: customer.storefront,
            ]
            parameters[.family] = customer.family
            try await store.perform(AppStoreOperation(.customer, parameters))
        }
    }
}

extension Scenario.Step {
    /// Returns the time of this step. `now` is the store's time before the step.
    fileprivate func date(after now: Date) -> Date {
        switch time {
        case .at(let date): date
        case .after(let seconds): now.addingTimeInterval(seconds)
        }
    }
}

extension AppStoreOperation {
    /// Performs the operation. Throws a `ScenarioFailure` with the position in the file if that isn't possible.
    fileprivate func perform(in store: LocalAppStore, at position: String) async throws {
        do {
            try await store.perform(self)
        } catch {
            throw ScenarioFailure(position: position, detail: "\(error)")
        }
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
