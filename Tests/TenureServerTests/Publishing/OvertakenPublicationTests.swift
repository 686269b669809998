import Foundation
import HTTPTypes
import HummingbirdTesting
import StoreContract
import TenureAPI
import TenureCore
import TenureJSON
import TenureStore
import Testing

@testable import TenureServer

/// A publication while another publication takes effect, or many customers change.
@Suite struct `a publication while other transactions write` {
    /// Publishes a policy with another process of the service.
    private func publish(_ policy: Policy, in configuration: ServiceConfiguration) async throws {
        let other = try await TenureService(configuration)
        try await other.publish(policy)
        try await other.store.close()
    }

    private func versions(_ admin: AdminClient) async throws -> [PolicyVersionAnswer] {
        let answer = try await admin.get(AdminClient.policies)
        return try JSONDecoder().decode(PoliciesAnswer.self, from: Data(answer.text.utf8)).versions
    }

    // The transactions that write: the first begins the evaluation, the second reads which customers changed, the
    // third and the fourth mark the promises to end, and the fifth publishes.
    @Test(arguments: [2, 3, 4, 5])
    func `a publication that another publication overtakes is refused, and ends no promise`(
        _ transaction: Int
    ) async throws {
        try await withCountedService { admin, counts, configuration in
            let owner = try await admin.owner()
            let harsh = try Policy.harsh(acknowledging: try await admin.lostRights(in: try .harsh()))
            let between = try Calculator.policy(testEnvironments: .undetermined)
            func promises() async throws -> Int {
                (try await admin.get(try owner.path()).json["promises"] as? [Any] ?? []).count
            }
            #expect(try await promises() == 1)
            let id = try #require(try await admin.rehearse(harsh).rehearsal)
            let hasRun = Locked(false)
            counts.reset {
                guard $0 == transaction else { return }
                try await publish(between, in: configuration)
                hasRun.withLock { $0 = true }
            }
            let refused = try await admin.publish(harsh, ["takeFrom": 1, "rehearsal": id])
            #expect(hasRun.withLock { $0 })
            counts.reset()
            #expect(refused.status == .conflict && refused.reason == "overtaken", "\(refused.text)")
            #expect(refused.problem?.detail.contains("rehearse your policy against that policy") == true)

            // Only the other policy is stored and in effect.
            let stored = try await versions(admin)
            #expect(stored.map(\.isCurrent) == [false, true])
            #expect(stored.last?.sha256 == ActivePolicy.digest(of: between).hexadecimal)
            #expect(try await promises() == 1)
            #expect(try await admin.outcome(of: owner) == ["granted", "eraHonored"])

            // The rehearsal compared the policy with the former one. With a new rehearsal, the policy is published.
            let stale = try await admin.publish(harsh, ["takeFrom": 1, "rehearsal": id])
            #expect(stale.reason == "otherRehearsal", "\(stale.text)")
            let fresh = try #require(try await admin.rehearse(harsh).rehearsal)
            let published = try await admin.publish(harsh, ["takeFrom": 1, "rehearsal": fresh])
            #expect(published.number("version") == 3 && published.number("losing") == 1, "\(published.text)")
            #expect(try await admin.outcome(of: owner)[0] == "denied")
        }
    }

    /// Adds customers without any artifact in one transaction.
    private func add(_ numbers: Range<Int>, to store: Store) async throws {
        let plans = numbers.map {
            CustomerUpdatePlan(
                naming: [Identity(.appTransactionID, "\($0)")], in: Realm(.production), at: Calculator.now)
        }
        try await store.write(at: Calculator.now, locking: plans.flatMap(\.lockKeys)) { transaction in
            for plan in plans {
                guard let found = try transaction.findCustomer(plan) else { continue }
                _ = try transaction.save(CustomerUpdate(facts: CustomerFacts()), of: found)
            }
        }
    }

    // Without promises to end, every third transaction that writes tries to publish. If too many customers changed
    // since the transaction before, two more transactions evaluate these customers first.
    @Test(arguments: [
        (count: 200, attempts: 100, isPublished: true), (count: 201, attempts: 1, isPublished: true),
        (count: 201, attempts: 100, isPublished: false),
    ])
    func `a publication is refused as busy if more than 200 customers change before each attempt`(
        count: Int, attempts: Int, isPublished: Bool
    ) async throws {
        try await withCountedService { admin, counts, configuration in
            _ = try await admin.owner()
            let other = try Store(SQLiteDatabase(path: configuration.databasePath))
            counts.reset { number in
                guard number.isMultiple(of: 3), number / 3 <= attempts else { return }
                try await add(number * 1000..<number * 1000 + count, to: other)
            }
            let policy = try Calculator.policy(inDoubt: .undetermined)
            let answer = try await admin.publish(policy)
            counts.reset()
            try await other.close()
            if isPublished {
                #expect(answer.status == .ok && answer.number("customers") == count + 1, "\(answer.text)")
            } else {
                #expect(answer.status == .serviceUnavailable && answer.problem?.code == .busy, "\(answer.text)")
                #expect(answer.response.headers[.retryAfter] == "1")
                #expect(answer.problem?.detail.hasPrefix("too many customers changed") == true)
            }
            #expect(try await versions(admin).map(\.isCurrent) == (isPublished ? [false, true] : [true]))
            // The service continues to publish.
            if !isPublished {
                let again = try await admin.publish(policy)
                #expect(again.status == .ok && again.number("version") == 2, "\(again.text)")
            }
        }
    }
}
