import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    /// Repeated requests, and what the audit trail and the timeline say about changes.
    static let requestIDs: [StoreClause] = [
        StoreClause("a refused change doesn't use up its request ID") { store in
            let customer = try await store.bring("1")
            try expect(
                try await store.change(.unlink(user: "u"), on: customer, request: "r").refusal == .notLinked,
                "no user is linked")
            try expect(
                try await store.change(.grant(entitlement: "cloud", until: nil), on: customer, request: "r").isNew,
                "another change with the same ID")
        },
        StoreClause("the audit trail has the fields of a change, and whether it changed nothing") { store in
            let customer = try await store.bring("1")
            let grant = CustomerChange.grant(entitlement: "cloud", until: Sample.after(60))
            for isNew in [true, false] {
                try expect(try await store.change(grant, on: customer).isNew == isNew, "only the first is new")
            }
            _ = try await store.change(.revoke(entitlement: "cloud"), on: customer, reason: "a mistake")
            _ = try await store.change(.link(user: "u", .share), on: customer)
            _ = try await store.change(.unlink(user: "u"), on: customer)
            let lines = try await store.read { try $0.audit(before: nil, of: customer.publicID, limit: 9) }
            try expect(lines.map(\.action) == ["unlink", "link", "revoke", "grant", "grant"], "\(lines)")
            let until = "2023-11-14T22:14:20Z"
            let details: [[String: String]] = [
                [:], ["transfer": "share"], ["entitlement": "cloud", "reason": "a mistake"],
                ["entitlement": "cloud", "until": until, "changed": "nothing"],
                ["entitlement": "cloud", "until": until],
            ]
            try expect(lines.map(\.detail) == details, "without the user: \(lines)")
        },
        StoreClause("a request ID is remembered for exactly thirty days") { store in
            let customer = try await store.bring("1")
            func perform(_ change: CustomerChange, _ id: String, after seconds: Double) async throws -> ChangeOutcome {
                try await store.perform(
                    RequestedChange(change, actor: "ada", at: Sample.after(seconds), request: id),
                    on: .publicID(customer.publicID), using: Sample.rederivation)
            }
            let grant = CustomerChange.grant(entitlement: "cloud", until: nil)
            try expect(try await perform(grant, "r", after: 0).isNew, "the first request")
            let month = 30.0 * 86_400
            // A stored request removes the old ones.
            for (id, seconds, refusal) in [("s", month, .requestReused), ("t", month + 0.001, nil)]
                as [(String, Double, ChangeOutcome.Refusal?)]
            {
                _ = try await perform(.grant(entitlement: id, until: nil), id, after: seconds)
                try expect(
                    try await perform(.revoke(entitlement: "cloud"), "r", after: seconds).refusal == refusal,
                    "after \(seconds) seconds")
            }
        },
        StoreClause("a repeated erasure returns the same counts, and its ID erases no other customer") { store in
            let (one, two) = (try await store.bring("1", purchases: ["a"]), try await store.bring("2"))
            let first = try await store.change(.erase, on: one, request: "r")
            guard case .erased(let counts) = first, counts["artifacts"] == 2 else {
                throw BrokenClause(description: "\(first)")
            }
            try expect(try await store.change(.erase, on: one, request: "r") == first, "the same answer")
            for request in [nil, "s"] {
                try expect(
                    try await store.change(.erase, on: one, request: request).refusal == .noSuchCustomer,
                    "no such customer without the ID")
            }
            try expect(
                try await store.change(.erase, on: two, request: "r").refusal == .requestReused, "not for another")
            try expect(
                try await store.change(.erase, on: one, actor: "boris", request: "r").refusal == .noSuchCustomer,
                "nor for another key")
            try expect(try await store.lookUp(two.id) == two, "the other customer stays")
        },
        StoreClause("an erasure that is requested again before it is complete returns the same counts, and only these")
        {
            store in
            let customer = try await store.bring("1", purchases: ["a"])
            let counted = store.counted
            // The first transaction hides the customer, and the second one removes the first rows.
            counted.counts.reset { if $0 == 2 { throw BrokenClause(description: "broken off") } }
            do {
                _ = try await counted.change(.erase, on: customer, reason: "704")
                throw BrokenClause(description: "one transaction removed everything")
            } catch is StoreError {}
            counted.counts.reset()
            let counts = [
                "customers": 1, "artifacts": 2, "identities": 1, "notifications": 0, "promises": 0, "support": 0,
                "events": 0, "devices": 0, "trialSessions": 0, "jobs": 0, "webhooks": 0,
            ]
            let grant = CustomerChange.grant(entitlement: "cloud", until: nil)
            try expect(
                try await store.change(grant, on: customer).refusal == .noSuchCustomer, "the customer is hidden")
            let repeated = try await store.change(.erase, on: customer, reason: "704")
            try expect(repeated == .erased(counts), "\(repeated)")
            try expect(
                try await store.change(.erase, on: customer, reason: "704").refusal == .noSuchCustomer,
                "no such customer after that")
        },
        StoreClause("an erasure counts the rows of each table, and the audit trail has the same counts") { store in
            try await store.listen(Endpoint(name: "all"))
            let policy = try await store.record(policy: [1], sha256: [1])
            let customer = try await store.bring("1", purchases: (0..<6).map { "p\($0)" }, promisedUnder: policy)
            _ = try await store.update("1") { update in
                update.promise(Sample.promise("cloud", policy: policy))
                update.identify(by: (0..<6).map { Identity(.webOrderLineItemID, "o\($0)") })
                update.messages = (0..<5).map { Message(.entitlementGranted, ["number": "\($0)"]) }
                update.fetchesHistory = true
                update.completePurchases()
            }
            for number in 0..<4 {
                _ = try await store.update("1") {
                    $0.addUse(of: DeviceUse(device: "d\(number)", getsEntitlementToken: true, limit: 3))
                }
            }
            _ = try await store.change(.link(user: "u", .never), on: customer)
            for number in 0..<9 { try await store.notify("1", "n\(number)") }
            for number in 0..<10 {
                _ = try await store.change(.grant(entitlement: "e\(number)", until: nil), on: customer)
            }
            for number in 0..<11 {
                try await store.write(at: Sample.now) {
                    _ = try $0.beginTrialSession("s\(number)", of: "cloud", for: customer.id) { _, _ in true }
                }
            }
            let outcome = try await store.change(.erase, on: customer)
            // The events are the complete purchases, the many devices and the link.
            let counts = [
                "customers": 1, "jobs": 1, "promises": 2, "events": 3, "devices": 4, "webhooks": 5, "artifacts": 7,
                "identities": 8, "notifications": 9, "support": 10, "trialSessions": 11,
            ]
            try expect(outcome == .erased(counts), "\(outcome)")
            let line = try unwrap(
                try await store.read { try $0.audit(before: nil, of: customer.publicID, limit: 1) }.first, "a line")
            try expect(line.action == "erase" && line.detail == counts.mapValues { String($0) }, "\(line)")
        },
        StoreClause("an account that moved to another user keeps no event with the former user's ID") { store in
            let (one, two) = (try await store.bring("1"), try await store.bring("2"))
            for customer in [one, two] { _ = try await store.change(.link(user: "u", .newest), on: customer) }
            _ = try await store.change(.link(user: "v", .newest), on: two)
            let moved = try unwrap(try await store.read { try $0.rows(of: two.id) }, "the rows").events
            try expect(moved.map(\.kind) == [.linked, .transferred], "\(moved)")
            try expect(moved.map { $0.detail["user"] } == [nil, "v"], "\(moved)")
            let stayed = try unwrap(try await store.read { try $0.rows(of: one.id) }, "the rows").events
            try expect(stayed.map(\.kind) == [.linked, .merged, .transferred], "\(stayed)")
            try expect(stayed.map { $0.detail["user"] } == ["u", "u", nil], "\(stayed)")
            try expect(stayed.last?.detail == ["customer": two.publicID], "\(stayed)")
            try expect(stayed.allSatisfy { $0.actor == "ada" }, "\(stayed)")
        },
    ]
}
