import Foundation
import TenureAppStore
import TenureCore
import TenureStore
import Testing

@testable import TenureServer

@Suite struct `rebuilding a database` {
    private func rebuild(
        _ store: Store, isTrial: Bool = false, trust: TrustConfiguration? = nil
    ) async throws -> (DatabaseRebuild.Outcome, [DatabaseFinding]) {
        let findings = Collected<DatabaseFinding>()
        let trust = try trust ?? DatabaseTestBed.trust()
        let outcome = try await DatabaseRebuild.run(on: store, trust: trust, isTrial: isTrial) { findings.append($0) }
        return (outcome, findings.all)
    }

    @Test func `rebuilding a healthy database changes nothing`() async throws {
        try await DatabaseTestBed.withFilledStore { store in
            let before = try await DatabaseTestBed.dump(store)
            let (outcome, findings) = try await rebuild(store)
            #expect(outcome.changed == 0 && outcome.failed == 0 && findings == [])
            #expect(outcome.customers > 15)
            #expect(try await DatabaseTestBed.dump(store) == before)
        }
    }

    @Test(arguments: ["x'0102'", "x''", "(SELECT facts FROM customers WHERE id = 5)"])
    func `rebuilding a database restores corrupted facts of customers`(facts: String) async throws {
        try await DatabaseTestBed.withFilledStore { store in
            let before = try await DatabaseTestBed.dump(store)
            try await DatabaseTestBed.execute("UPDATE customers SET facts = \(facts) WHERE id IN (1, 3)", in: store)
            if facts.hasPrefix("(") {
                let (trial, _) = try await rebuild(store, isTrial: true)
                #expect(trial.changed == 2)
                #expect(try await DatabaseTestBed.dump(store) != before, "a trial changes nothing")
            }
            let (outcome, _) = try await rebuild(store)
            #expect(outcome.changed == 2 && outcome.failed == 0)
            #expect(try await DatabaseTestBed.dump(store) == before)
        }
    }

    @Test func `rebuilding a database skips a customer with an invalid artifact, and keeps the customer's facts`()
        async throws
    {
        try await DatabaseTestBed.withFilledStore { store in
            let name = try await store.lookUp(1)?.publicID
            try await DatabaseTestBed.execute(
                "UPDATE artifacts SET bytes = CAST(bytes || x'41' AS BLOB) WHERE customer = 1", in: store)
            try await DatabaseTestBed.execute("UPDATE customers SET facts = x'01' WHERE id = 3", in: store)
            let known = try await store.lookUp(1)
            let (outcome, findings) = try await rebuild(store)
            #expect(outcome.failed == 1 && outcome.changed == 1)
            #expect(findings.map(\.customer) == [name])
            #expect(findings.first?.problem.contains("artifact 1 (appTransaction)") == true)
            #expect(try await store.lookUp(1) == known)
            #expect(try await store.lookUp(3) != nil)
        }
    }

    @Test func `rebuilding a database with unrelated trust anchors changes nothing`() async throws {
        try await DatabaseTestBed.withFilledStore { store in
            let before = try await DatabaseTestBed.dump(store)
            let apple = try TrustConfiguration(anchors: [.production: .apple, .sandbox: .apple])
            let (outcome, _) = try await rebuild(store, trust: apple)
            #expect(outcome.changed == 0 && outcome.failed > 10)
            #expect(try await DatabaseTestBed.dump(store) == before)
        }
    }
}
