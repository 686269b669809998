import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import StoreContract
import TenureAppStore
import TenureCore
import TenureMint
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `a customer's life` {
    private static let lives = ProcessInfo.processInfo.environment["TENURE_SOAK"] == nil ? 200 : 2_000

    /// Returns the events in order, in a random order with some repeated, and each event twice in another order.
    private func arrangements(
        of events: [SimulatedLife.Event], using random: inout SeededRandom
    ) -> [[SimulatedLife.Event]] {
        let repeated = events + events.filter { _ in Bool.random(using: &random) }
        return [events, repeated.shuffled(using: &random), events.reversed() + events.shuffled(using: &random)]
    }

    @Test func `notifications and syncs in any order, also repeated, give a customer the same facts and decisions`()
        async throws
    {
        let policy = try SimulatedLife.policy()
        try await withServiceTestBeds(3, policy: policy) { testBeds in
            var random = SeededRandom(seed: 20_261_120)
            for seed in 1...UInt64(Self.lives) {
                let life = try SimulatedLife(seed: seed)
                var states: [[State]] = []
                for (testBed, events) in zip(testBeds, arrangements(of: life.events, using: &random)) {
                    for event in events { try await testBed.send(event) }
                    states.append(try await testBed.states(of: life))
                }
                #expect(states[1] == states[0], "seed \(seed)")
                #expect(states[2] == states[0], "seed \(seed)")
                let granted = Set(states[0].flatMap(\.granted))
                #expect(granted == life.granted, "seed \(seed): \(granted.symmetricDifference(life.granted))")
            }
        }
    }
}

/// The stored state of one customer.
private struct State: Equatable {
    let facts: CustomerFacts
    let decisions: [[Decision]]

    var granted: [String] { decisions[0].filter { $0.outcome == .granted }.map(\.entitlement) }
}

extension ServiceTestBed {
    fileprivate func send(_ event: SimulatedLife.Event) async throws {
        switch event {
        case .notification(let jws):
            let response = try await client.notify(jws)
            #expect(response.status == .ok, "\(String(buffer: response.body))")
        case .sync(let request): _ = try await client.sync(request)
        }
    }

    /// Returns the state of each customer to whom the purchases of a life belong.
    fileprivate func states(of life: SimulatedLife) async throws -> [State] {
        let verifier = AppStoreVerifier(
            app: service.configuration.app, trust: try TrustConfiguration(anchors: service.configuration.anchors))
        var seen: Set<Int64> = []
        var states: [State] = []
        let identities =
            [Identity(.appTransactionID, life.acquisition)]
            + life.originals.sorted().map { Identity(.originalTransactionID, $0) }
        for identity in identities {
            let realm = Realm(.production, isTest: true)
            guard let customer = try await service.store.customer(by: identity, in: realm),
                seen.insert(customer.id).inserted
            else { continue }
            // The stored facts equal those that the artifacts prove.
            let derivation = Derivation(verifier: verifier)
            let rederived = try await service.store.rebuild(customer.id) { rows throws(StoreError) in
                try derivation.facts(of: rows)
            }
            #expect(rederived?.hasChanged == false)
            let decisions = try [0, 20, 400].map { days in
                try service.policies.decide(
                    customer.facts, customer.evidence,
                    at: Calculator.now.addingTimeInterval(days * SimulatedLife.day))
            }
            states.append(State(facts: customer.facts, decisions: decisions))
        }
        return states
    }
}
