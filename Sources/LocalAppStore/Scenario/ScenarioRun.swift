package import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

/// Plays a scenario: its operations happen, the service learns about them, and its answers are compared.
package struct ScenarioRun: Sendable {
    package let scenario: Scenario
    package let signer: StoreSigner
    package let service: any EntitlementService

    package init(_ scenario: Scenario, signer: StoreSigner, service: any EntitlementService) {
        self.scenario = scenario
        self.signer = signer
        self.service = service
    }

    /// An expectation, and the service's answer if it differs.
    package struct Outcome: Sendable {
        package let expectation: Scenario.Expectation
        package let date: Date
        package let difference: String?
    }

    /// Throws a `ScenarioFailure` if an operation isn't possible.
    package func play() async throws -> [Outcome] {
        try await service.accompany(scenario.founding, signer: signer) { try await play(in: $0) }
    }

    private func play(in store: LocalAppStore) async throws -> [Outcome] {
        try await scenario.found(in: store)
        var outcomes: [Outcome] = []
        for step in scenario.timeline {
            let time = step.date(after: await store.world.now)
            try await store.perform(Act(.advance, [.to: time.rfc3339]))
            for event in step.events {
                switch event {
                case .act(let act, let place): try await act.happen(in: store, at: place)
                case .catchUp: try await service.catchUp(from: store)
                case .expect(let expectation): outcomes.append(try await check(expectation, store))
                }
            }
        }
        return outcomes
    }

    private func check(_ expectation: Scenario.Expectation, _ store: LocalAppStore) async throws -> Outcome {
        let now = await store.world.now
        let answers: [String: Decision.Outcome]?
        do {
            if expectation.opensApp {
                let shows = scenario.customers.first { $0.name == expectation.customer }?.shows ?? .appTransaction
                answers = try await service.open(
                    try await store.artifacts(of: expectation.customer, showing: shows), at: now)
            } else {
                answers = try await service.known(try await store.customer(expectation.customer), at: now)
            }
        } catch {
            throw ScenarioFailure(place: expectation.place, detail: "\(error)")
        }
        func outcome(_ difference: String?) -> Outcome {
            Outcome(expectation: expectation, date: now, difference: difference)
        }
        guard let answers else { return outcome("the service does not know `\(expectation.customer)`") }
        guard let answer = answers[expectation.entitlement] else {
            return outcome("there is no entitlement `\(expectation.entitlement)`")
        }
        return outcome(
            answer == expectation.outcome
                ? nil
                : "\(expectation.customer), \(expectation.entitlement): expected \(expectation.outcome.rawValue), got \(answer.rawValue)"
        )
    }
}

extension Scenario {
    /// Plays the operations in a store, without comparing anything.
    /// Throws a `ScenarioFailure` if an operation isn't possible.
    package func happen(in store: LocalAppStore) async throws {
        try await found(in: store)
        for step in timeline {
            try await store.perform(Act(.advance, [.to: step.date(after: store.world.now).rfc3339]))
            for case .act(let act, let place) in step.events { try await act.happen(in: store, at: place) }
        }
    }

    /// Makes the customers' accounts.
    fileprivate func found(in store: LocalAppStore) async throws {
        for customer in customers {
            var particulars: [Particular: String] = [.customer: customer.name, .storefront: customer.storefront]
            particulars[.family] = customer.family
            try await store.perform(Act(.customer, particulars))
        }
    }
}

extension Scenario.Step {
    fileprivate func date(after now: Date) -> Date {
        switch time {
        case .at(let date): date
        case .after(let seconds): now.addingTimeInterval(seconds)
        }
    }
}

extension Act {
    fileprivate func happen(in store: LocalAppStore, at place: String) async throws {
        do {
            try await store.perform(self)
        } catch {
            throw ScenarioFailure(place: place, detail: "\(error)")
        }
    }
}

/// An operation that isn't possible, or an artifact that can't be verified.
package struct ScenarioFailure: Error, Sendable, CustomStringConvertible {
    package let place: String
    package let detail: String

    package var description: String { "\(place): \(detail)" }
}
