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
            let one = try unwrap(try await store.lookUp(ids[0]), "the first customer")
            let four = try unwrap(try await store.lookUp(ids[3]), "the last customer")
            _ = try await store.change(.merge(other: four.publicID), on: one)
            try expect(
                try await store.compareDueCustomers(at: Sample.after(100), limit: 9, compare) == 3,
                "a merged customer isn't due")
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
        StoreClause("deliveries are claimed in the order in which they became due, after them those of a publication") {
            store in
            let affected = try await store.bring("0")
            try await store.listen(Endpoint(name: "a"))
            let bulk: @Sendable (Customer) -> EntitlementChange? = { _ in Sample.gained("bulk") }
            while try await store.compareAllCustomers(at: Sample.after(5), limit: 9, bulk) {}
            var ids: [String] = []
            for (id, seconds) in [("1", 30.0), ("2", 10), ("3", 20)] {
                let named = [Identity(.appTransactionID, id)]
                let (customer, _) = try await store.update(named, in: Sample.production, at: Sample.after(seconds)) {
                    known in
                    var update = CustomerUpdate(of: known)
                    update.entitlementChange = Sample.gained("everything")
                    return (update, ())
                }
                ids.append(customer.publicID)
            }
            func messages(_ selection: MessageSelection, limit: Int = 9) async throws -> [String?] {
                try await store.read { try $0.messages(selection, limit: limit) }.map(\.message.publicID)
            }
            let event = try unwrap(try await store.outbox().first?.message.event, "an event")
            try expect(try await messages(.event(event)) == [ids[2]], "the message about one event")
            try expect(try await messages(.since(.distantPast), limit: 2) == [ids[2], ids[1]], "the latest two")
            try expect(try await messages(.since(Sample.after(20))) == [ids[2], ids[0]], "since an instant")
            try expect(try await messages(.since(Sample.after(20.001))) == [ids[0]], "and not before")
            let first = try await store.claim("a", at: 30, limit: 2)
            try expect(first.map(\.message.publicID) == [ids[1], ids[2]], "in this order: \(first)")
            let second = try await store.claim("a", at: 30, limit: 2)
            try expect(second.map(\.message.publicID) == [ids[0], affected.publicID], "the rest: \(second)")
        },
        StoreClause("a new message about a customer takes along the customer's messages of a publication") { store in
            let (one, two) = (try await store.bring("1"), try await store.bring("2"))
            try await store.listen(Endpoint(name: "a"), Endpoint(name: "b", eachCustomer: false))
            while try await store.compareAllCustomers(at: Sample.now, limit: 9, { _ in Sample.gained("bulk") }) {}
            _ = try await store.update("2") { $0.entitlementChange = Sample.gained("later") }
            for (customer, entitlement) in [(two, "bulk"), (two, "later"), (one, "bulk")] {
                let claimed = try await store.claim("a", limit: 1)
                try expect(claimed.map(\.message.publicID) == [customer.publicID], "\(claimed)")
                let data = Array(#"{"entitlement":"\#(entitlement)"}"#.utf8)
                try expect(claimed[0].message.data == data, "\(claimed)")
                try await store.write(at: Sample.now) {
                    try $0.recordAttempt(of: claimed[0], .delivered(status: 200))
                }
            }
            try expect(try await store.claim("a", at: 1e6).isEmpty, "no other message waits")
            _ = try await store.record(SupportGrant(.grant, of: "x", date: Sample.now), for: one.id)
            let due = try await store.compareDueCustomers(at: Sample.now, limit: 9) { _ in Sample.gained("due") }
            try expect(due == 1, "the customer with the grant is compared")
            // The second endpoint gets only messages about single customers.
            let endpoints = try await store.outbox().map { $0.deliveries.map(\.endpoint) }
            try expect(endpoints == [["a", "b"], ["a", "b"], ["a"], ["a"]], "\(endpoints)")
        },
        StoreClause("a comparison stores when to compare again, and sends a message only if the report changes") {
            store in
            try await store.listen(Endpoint(name: "a"))
            let (former, next) = (SentEntitlements(), SentEntitlements(rights: ["everything": .init(until: nil)]))
            let realm = Realm(.sandbox, isTest: true)
            let customer = try await store.update(in: realm) {
                $0.entitlementChange = .reported([], former, nextComparison: Sample.after(10))
            }
            let message = Message(.entitlementGranted, ["entitlement": "everything"])
            for (seconds, sent, later, messages) in [(10, former, 50, 0), (50, next, 90, 1), (90, next, nil, 1)]
                as [(Double, SentEntitlements, Double?, Int)]
            {
                let compare: @Sendable (Customer) -> EntitlementChange? = { _ in
                    .reported([message], sent, nextComparison: later.map { Sample.after($0) })
                }
                let early = try await store.compareDueCustomers(at: Sample.after(seconds - 0.001), limit: 9, compare)
                try expect(early == 0, "not before \(seconds) seconds")
                let due = try await store.compareDueCustomers(at: Sample.after(seconds), limit: 9, compare)
                try expect(due == 1, "after \(seconds) seconds")
                let count = try await store.outbox().count
                try expect(count == messages, "after \(seconds) seconds: \(count) messages")
                let rows = try unwrap(try await store.read { try $0.rows(of: customer.id) }, "the rows")
                try expect(rows.customer.sentEntitlements == sent, "after \(seconds) seconds: \(rows.customer)")
            }
            let due = try await store.compareDueCustomers(at: .distantFuture, limit: 9) { _ in nil }
            try expect(due == 0, "never again without a date")
            let sent = try unwrap(try await store.outbox().first?.message, "the message")
            try expect(sent.realm == realm && sent.publicID == customer.publicID, "\(sent)")
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
