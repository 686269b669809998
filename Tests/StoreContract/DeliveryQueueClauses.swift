import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    /// Which webhook messages are queued, replayed and removed, and in which order customers are compared.
    static let deliveryQueue: [StoreClause] = [
        StoreClause("customers are compared in the order in which they became due") { store in
            try await store.listen(Endpoint(name: "all"))
            var ids: [Int64] = []
            for (id, seconds) in [("1", 30.0), ("2", 10), ("3", 20), ("4", 31)] {
                ids.append(
                    try await store.update(id) {
                        $0.entitlementChange = .reported(
                            [], SentEntitlements(), nextComparison: Sample.after(seconds))
                    }.id)
            }
            let compared = Locked<[Int64]>([])
            let compare: @Sendable (Customer) -> EntitlementChange? = { customer in
                compared.withLock { $0.append(customer.id) }
                return nil
            }
            try expect(
                try await store.compareDueCustomers(at: Sample.after(30), limit: 2, compare) == 2, "at most the limit")
            try expect(
                try await store.compareDueCustomers(at: Sample.after(30), limit: 9, compare) == 1,
                "the one that is due just now, and no later one")
            let order = compared.withLock { $0 }
            try expect(order == [ids[1], ids[2], ids[0]], "in the order in which they became due: \(order)")
        },
        StoreClause("a replayed message waits again, also for an endpoint that names its type") { store in
            try await store.listen(Endpoint(name: "a"), Endpoint(name: "gone"))
            _ = try await store.update { $0.entitlementChange = Sample.gained("everything") }
            let outcomes: [Delivery.Outcome] = [
                .failed(status: 500, detail: "no", retryAt: Sample.now), .delivered(status: 204),
            ]
            for outcome in outcomes {
                let delivery = try unwrap(try await store.claim("a").first, "a delivery")
                try await store.write(at: Sample.now) { try $0.recordAttempt(of: delivery, outcome) }
            }
            let silent = try await store.read { try $0.endpoints() }.filter { $0.name == "gone" }
            try expect(
                try await store.removeEndpoints(silent, at: Sample.now) == [RemovedEndpoint(name: "gone", waiting: 1)],
                "one endpoint is removed")
            try await store.listen(
                Endpoint(name: "b", kinds: [.entitlementRevoked, .entitlementGranted]),
                Endpoint(name: "c", kinds: [.entitlementRevoked]))
            let before = try unwrap(try await store.outbox().first, "the message")
            try expect(before.deliveries.first?.deliveredAt == Sample.now, "delivered")
            let replayed = try await store.write(at: Sample.after(60)) {
                try $0.replay(.event(before.message.event))
            }
            try expect(replayed == 2, "for the two endpoints that exist and want it: \(replayed)")
            let deliveries = try unwrap(try await store.outbox().first, "the message").deliveries
            try expect(deliveries.map(\.endpoint) == ["a", "b", "gone"], "\(deliveries)")
            try expect(deliveries.map(\.nextAttempt) == [Sample.after(60), Sample.after(60), nil], "\(deliveries)")
            try expect(deliveries.allSatisfy { $0.deliveredAt == nil }, "not delivered yet: \(deliveries)")
            // The log of the earlier attempts stays.
            let attempts = deliveries[0].attempts
            try expect(attempts.map(\.status) == [500, 204], "\(attempts)")
            try expect(attempts.map(\.detail) == ["no", nil], "\(attempts)")
            try expect(attempts.map(\.at) == [Sample.now, Sample.now], "\(attempts)")
            for endpoint in ["a", "b"] {
                let again = try await store.claim(endpoint, at: 60)
                try expect(
                    again.map(\.attempt) == [1] && again.map(\.queuedAt) == [Sample.after(60)],
                    "a first attempt for \(endpoint): \(again)")
            }
        },
        StoreClause("old messages are removed in the order in which they were created") { store in
            try await store.listen(Endpoint(name: "a"))
            for (id, seconds) in [("1", 20.0), ("2", 0), ("3", 10)] {
                let identities = [Identity(.appTransactionID, id)]
                _ = try await store.update(identities, in: Sample.production, at: Sample.after(seconds)) { known in
                    var update = CustomerUpdate(of: known)
                    update.entitlementChange = Sample.gained("everything")
                    return (update, ())
                }
            }
            for delivery in try await store.claim("a", at: 20) {
                try await store.write(at: Sample.after(20)) {
                    try $0.recordAttempt(of: delivery, .delivered(status: 200))
                }
            }
            for (count, kept) in [(1, [10, 20]), (1, [20]), (0, [20])] as [(Int, [Double])] {
                try expect(
                    try await store.pruneMessages(before: Sample.after(20), limit: 1) == count, "\(count) is removed")
                let created = try await store.outbox().map(\.message.createdAt)
                try expect(created == kept.map { Sample.after($0) }, "the later ones stay: \(created)")
            }
        },
        StoreClause("deliveries to an endpoint that was removed while they were queued are abandoned") { store in
            try await store.listen(Endpoint(name: "a"))
            _ = try await store.update { $0.entitlementChange = Sample.gained("everything") }
            // Another process removed the endpoint, and didn't see the new message yet.
            try await store.write { try $0.session.execute("DELETE FROM endpoints") }
            try expect(
                try await store.pruneMessages(before: Sample.after(1), limit: 9) == 0, "the delivery still waits")
            try expect(try await store.removeEndpoints([], at: Sample.now) == [], "no endpoint is removed")
            try expect(
                try await store.pruneMessages(before: Sample.after(1), limit: 9) == 1, "the delivery was abandoned")
        },
        StoreClause("an endpoint that is registered again gets what its latest settings name") { store in
            try await store.listen(Endpoint(name: "a", kinds: [.customerMerged], eachCustomer: false))
            let customer = try await store.update { $0.entitlementChange = Sample.gained("first") }
            try await store.listen(Endpoint(name: "a", kinds: [.entitlementGranted]))
            _ = try await store.update { $0.entitlementChange = Sample.gained("second") }
            while try await store.compareAllCustomers(at: Sample.now, limit: 9, { _ in Sample.gained("third") }) {}
            let messages = try await store.outbox().map(\.message)
            try expect(
                messages.map { String(decoding: $0.data, as: UTF8.self) } == [
                    #"{"entitlement":"third"}"#, #"{"entitlement":"second"}"#,
                ], "\(messages)")
            try expect(messages.allSatisfy { $0.publicID == customer.publicID }, "about the customer")
        },
    ]
}

extension Sample {
    /// The change with which a customer gains an entitlement permanently.
    fileprivate static func gained(_ entitlement: String) -> EntitlementChange {
        .reported(
            [Message(.entitlementGranted, ["entitlement": entitlement])],
            SentEntitlements(rights: [entitlement: .init(until: nil)]), nextComparison: nil)
    }
}
