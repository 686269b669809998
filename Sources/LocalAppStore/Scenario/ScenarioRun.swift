package import Foundation
import TenureCore

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
