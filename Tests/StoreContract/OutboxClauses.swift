import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let outbox: [StoreClause] = [
        StoreClause("without endpoints no messages are stored") { store in
            _ = try await store.update {
                $0.entitlementChange = .reported([Sample.granted], SentEntitlements(), nextComparison: nil)
            }
            _ = try await store.record(policy: [1], sha256: [1])
            try expect(try await store.outbox().isEmpty, "an empty outbox")
            _ = try await store.update { $0.completePurchases() }
            try expect(try await store.due(at: .distantFuture).isEmpty, "no customer is due")
        },
        StoreClause("a message is written in the update's transaction, for the endpoints that subscribe to it") {
            store in
            try await store.listen(Endpoint(name: "all"), Endpoint(name: "merges", kinds: [.customerMerged]))
            let customer = try await store.update {
                $0.identify(by: [Identity(.userID, "u2"), Identity(.userID, "u1")])
                $0.entitlementChange = .reported([Sample.granted], SentEntitlements(), nextComparison: nil)
            }
            let outbox = try await store.outbox()
            let message = try unwrap(outbox.first?.message, "a message")
            try expect(
                outbox.count == 1 && message.type == "entitlement.granted", "one message about the granted right")
            try expect(message.publicID == customer.publicID && message.realm == customer.realm, "about the customer")
            try expect(message.userIDs == ["u1", "u2"], "with the app's user IDs")
            try expect(
                message.data == Sample.granted.data && message.createdAt == Sample.now,
                "the message has its data and its time")
            try expect(outbox.first?.deliveries.map(\.endpoint) == ["all"], "for one endpoint")
            try expect(message.event.hasPrefix("evt_") && message.event.utf8.count == 28, "with an id")
        },
        StoreClause("a merge of customers stores a message") { store in
            try await store.listen(Endpoint(name: "all"))
            let one = try await store.update("1") { _ in }
            let identities = [Identity(.appTransactionID, "1"), Identity(.originalTransactionID, "x")]
            let other = try await store.update([identities[1]], in: Sample.production, at: Sample.now) {
                (CustomerUpdate(of: $0), ())
            }.0
            _ = try await store.update(identities, in: Sample.production, at: Sample.now) {
                (CustomerUpdate(of: $0), ())
            }
            let merged = try unwrap(
                try await store.outbox().first { $0.message.type == "customer.merged" }?.message, "a message")
            try expect(merged.publicID == one.publicID, "about the customer who remains")
            let data = #"{"because":"signedTogether","merged":"\#(other.publicID)"}"#
            try expect(merged.data == Array(data.utf8), "with the ID of the other")
        },
        StoreClause("a repeated start with a policy stores one message, with the policy's version") { store in
            try await store.listen(Endpoint(name: "all"))
            for _ in 0..<2 {
                _ = try await store.write(at: Sample.now, locking: [.policies]) {
                    try $0.start(with: [1], sha256: [0x0A, 0xFF])
                }
            }
            let outbox = try await store.outbox()
            try expect(outbox.map(\.message.type) == ["policy.published"], "one message about the policy")
            let data = #"{"action":"start","sha256":"0aff","version":"1"}"#
            try expect(outbox.first?.message.data == Array(data.utf8), "with version and hash")
        },
    ]

    static let endpoints: [StoreClause] = [
        StoreClause("a process without webhooks stores messages for the endpoints of another process") { store in
            try await store.listen(Endpoint(name: "theirs"))
            // A second process starts without endpoints, and a third process starts with another endpoint.
            try await store.listen()
            try await store.listen(Endpoint(name: "ours"))
            _ = try await store.update {
                $0.entitlementChange = .reported([Sample.granted], SentEntitlements(), nextComparison: nil)
            }
            try expect(
                try await store.outbox().first?.deliveries.map(\.endpoint) == ["ours", "theirs"],
                "a message for the endpoints of both processes")
            try expect(
                try await store.write(at: Sample.now, locking: [.endpoints]) {
                    try $0.sendHeartbeats(of: [Endpoint(name: "theirs")])
                }, "the endpoint still exists")
        },
        StoreClause("an endpoint without a recent heartbeat is removed, and its waiting messages are counted") {
            store in
            try await store.listen(Endpoint(name: "gone"), Endpoint(name: "stays"))
            _ = try await store.update {
                $0.entitlementChange = .reported([Sample.granted], SentEntitlements(), nextComparison: nil)
            }
            let later = Sample.now.addingTimeInterval(600)
            let before = try await store.read { try $0.endpoints() }
            try expect(before.map(\.name) == ["gone", "stays"], "both endpoints exist")
            try expect(
                try await store.write(at: later, locking: [.endpoints]) {
                    try $0.sendHeartbeats(of: [Endpoint(name: "stays")])
                },
                "the endpoint still exists")
            let since = Sample.now.addingTimeInterval(1)
            try expect(
                try await store.removeEndpoints(before, at: later) == [RemovedEndpoint(name: "gone", waiting: 1)],
                "only the endpoint without a recent heartbeat is removed, with its message")
            try expect(try await store.claim("gone", at: 1e6).isEmpty, "its messages are dropped")
            let kept = try unwrap(try await store.claim("stays", at: 1e6).first, "the other's message stays")
            try await store.write(at: later) { try $0.recordAttempt(of: kept, .delivered(status: 200)) }
            try expect(
                try await store.pruneMessages(before: since, limit: 10) == 1, "and the delivered message is removed")
            try expect(
                try await !store.write(
                    at: later, locking: [.endpoints], { try $0.sendHeartbeats(of: [Endpoint(name: "gone")]) }),
                "the removed endpoint must be added again")
        },
        StoreClause("removing one endpoint doesn't end the comparison of all customers for the others") { store in
            let customer = try await store.update { $0.completePurchases() }
            try await store.listen(Endpoint(name: "gone"), Endpoint(name: "stays"))
            let before = try await store.read { try $0.endpoints() }
            let later = Sample.now.addingTimeInterval(600)
            _ = try await store.write(at: later, locking: [.endpoints]) {
                try $0.sendHeartbeats(of: [Endpoint(name: "stays")])
            }
            try expect(try await store.removeEndpoints(before, at: later).map(\.name) == ["gone"], "one is removed")
            let seen = Seen()
            while try await store.compareAllCustomers(at: later, limit: 100, { seen.compare($0) }) {}
            try expect(seen.customers.map(\.id) == [customer.id], "all customers are compared")
        },
        StoreClause(
            "after the last endpoint is removed no changes are stored, and a new endpoint compares all customers"
        ) { store in
            try await store.listen(Endpoint(name: "all"))
            while try await store.compareAllCustomers(at: Sample.now, limit: 100, { Seen().compare($0) }) {}
            _ = try await store.removeEndpoints(try await store.read { try $0.endpoints() }, at: Sample.now)
            let customer = try await store.update { $0.completePurchases() }
            try expect(try await store.due(at: .distantFuture).isEmpty, "no customer is due")
            try await store.listen(Endpoint(name: "all"))
            let seen = Seen()
            while try await store.compareAllCustomers(at: Sample.now, limit: 100, { seen.compare($0) }) {}
            try expect(seen.customers.map(\.id) == [customer.id], "all customers")
        },
    ]

    static let entitlementChanges: [StoreClause] = [
        StoreClause("a customer who changed without a comparison is compared once") { store in
            try await store.listen(Endpoint(name: "all"))
            let customer = try await store.update { $0.completePurchases() }
            let due = try await store.due(at: Sample.now)
            try expect(
                due.map(\.id) == [customer.id] && due.first?.sentEntitlements == SentEntitlements(),
                "the customer is due, and no entitlements were sent yet")
            try expect(try await store.due(at: .distantFuture).isEmpty, "compared already")
            let grant = SupportGrant(.grant, of: "everything", date: Sample.now)
            _ = try await store.record(grant, for: customer.id)
            try expect(
                try await store.due(at: Sample.now).map(\.id) == [customer.id], "a grant by support makes them due")
        },
        StoreClause("both customers are compared after a merge is undone") { store in
            let (one, two) = (try await store.bring("1"), try await store.bring("2"))
            try await store.listen(Endpoint(name: "all"))
            while try await store.compareAllCustomers(at: Sample.now, limit: 100, { Seen().compare($0) }) {}
            _ = try await store.change(.merge(other: two.publicID), on: one)
            _ = try await store.due(at: Sample.now)
            _ = try await store.change(.unmerge(other: two.publicID), on: one)
            try expect(
                Set(try await store.due(at: Sample.now).map(\.id)) == [one.id, two.id], "both customers are due")
        },
        StoreClause("a customer with an end date is compared at that date") { store in
            try await store.listen(Endpoint(name: "all"))
            let sent = SentEntitlements(rights: ["everything": .init(until: Sample.now.addingTimeInterval(60))])
            let end = Sample.now.addingTimeInterval(60)
            let customer = try await store.update { $0.entitlementChange = .reported([], sent, nextComparison: end) }
            try expect(
                try await store.due(at: Sample.now.addingTimeInterval(59)).isEmpty,
                "no customer is due before the end date")
            let due = try await store.due(at: end)
            try expect(
                due.map(\.id) == [customer.id] && due.first?.sentEntitlements == sent,
                "the customer is due at the end date, with the sent entitlements")
        },
        StoreClause("a change that a comparison finds stores one message") { store in
            try await store.listen(Endpoint(name: "all"))
            _ = try await store.update { $0.completePurchases() }
            for _ in 0..<2 {
                _ = try await store.compareDueCustomers(at: Sample.now, limit: 10) { customer in
                    let sent = SentEntitlements(rights: ["everything": .init(until: nil)])
                    return .reported(
                        customer.sentEntitlements == sent ? [] : [Sample.granted], sent, nextComparison: nil)
                }
            }
            try expect(
                try await store.outbox().map(\.message.type) == ["entitlement.granted"], "one message about the change")
        },
        StoreClause("a customer without a decision is compared again a minute later") { store in
            try await store.listen(Endpoint(name: "all"))
            _ = try await store.update { $0.completePurchases() }
            try expect(
                try await store.compareDueCustomers(at: Sample.now, limit: 10) { _ in nil } == 1,
                "one customer is compared")
            try expect(
                try await store.compareDueCustomers(at: Sample.after(59.999), limit: 10) { _ in nil } == 0,
                "the customer isn't compared again before")
            let later = Sample.after(60)
            try expect(
                try await store.compareDueCustomers(at: later, limit: 10) { _ in nil } == 1,
                "the customer is compared again a minute later")
        },
        StoreClause("new endpoint settings compare all customers once, except unbound customers") { store in
            for number in 0..<5 { _ = try await store.update(String(number)) { _ in } }
            _ = try await store.update([Identity(.unbound, "app 1 x")], in: Sample.production, at: Sample.now) {
                (CustomerUpdate(of: $0), ())
            }
            for (key, expected) in [("a", 5), ("a", 0), ("b", 5)] {
                try await store.write(at: Sample.now, locking: [.endpoints]) {
                    try $0.register([Endpoint(name: "all")], comparisonKey: key)
                }
                let seen = Seen()
                while try await store.compareAllCustomers(at: Sample.now, limit: 2, { seen.compare($0) }) {}
                try expect(seen.customers.count == expected, "\(expected), not \(seen.customers.count)")
            }
        },
    ]

    static let deliveries: [StoreClause] = [
        StoreClause("a claimed delivery isn't claimed again until its lease ends") { store in
            try await store.listen(Endpoint(name: "a"), Endpoint(name: "b"))
            _ = try await store.update {
                $0.entitlementChange = .reported([Sample.granted], SentEntitlements(), nextComparison: nil)
            }
            let first = try await store.claim("a")
            try expect(first.map(\.attempt) == [1] && first.first?.queuedAt == Sample.now, "a first attempt")
            try expect(try await store.claim("a").isEmpty, "a claimed delivery isn't claimed again")
            try expect(try await store.claim("b").count == 1, "another endpoint has its own")
            try expect(try await store.claim("a", at: 59).isEmpty, "the delivery isn't claimed before its lease ends")
            let second = try await store.claim("a", at: 60)
            try expect(second.map(\.attempt) == [2], "the delivery is claimed again after its lease")
            // The first worker was only slow. Its result is logged, and the second worker's result applies.
            try await store.write(at: Sample.now) {
                try $0.recordAttempt(
                    of: try unwrap(first.first, "1"), .failed(status: nil, detail: "late", retryAt: nil))
            }
            try await store.write(at: Sample.now) {
                try $0.recordAttempt(of: try unwrap(second.first, "2"), .delivered(status: 204))
            }
            let delivery = try unwrap(try await store.outbox().first?.deliveries.first, "a delivery")
            try expect(delivery.deliveredAt == Sample.now && delivery.nextAttempt == nil, "delivered")
            try expect(delivery.attempts.map(\.status) == [nil, 204], "both are logged")
            try expect(try await store.claim("a", at: 1e6).isEmpty, "and it isn't delivered again")
        },
        StoreClause("a customer's messages are delivered in order, and don't wait for other customers' messages") {
            store in
            try await store.listen(Endpoint(name: "a"))
            for id in ["1", "1", "2"] {
                _ = try await store.update(id) {
                    // Each update has another entitlement, so each update makes a message.
                    let sent = SentEntitlements(rights: [UUID().uuidString: .init(until: nil)])
                    $0.entitlementChange = .reported([Sample.granted], sent, nextComparison: nil)
                }
            }
            let first = try await store.claim("a")
            try expect(
                first.count == 2 && Set(first.map(\.message.publicID)).count == 2, "one message of each customer")
            let retry = Sample.now.addingTimeInterval(100)
            for delivery in first {
                try await store.write(at: Sample.now) {
                    try $0.recordAttempt(of: delivery, .failed(status: 500, detail: "no", retryAt: retry))
                }
            }
            try expect(try await store.claim("a", at: 99).isEmpty, "the second waits for the first")
            let again = try await store.claim("a", at: 100)
            try expect(again.map(\.message.event) == first.map(\.message.event), "the same two messages come back")
            for delivery in again {
                try await store.write(at: Sample.now) { try $0.recordAttempt(of: delivery, .delivered(status: 200)) }
            }
            try expect(try await store.claim("a", at: 100).count == 1, "the customer's second message comes next")
        },
        StoreClause("after ten failed attempts, a message doesn't delay the customer's later messages anymore") {
            store in
            try await store.listen(Endpoint(name: "a"))
            for number in 0..<2 {
                _ = try await store.update {
                    let sent = SentEntitlements(rights: ["\(number)": .init(until: nil)])
                    $0.entitlementChange = .reported([Sample.granted], sent, nextComparison: nil)
                }
            }
            for attempt in 1...10 {
                let claimed = try await store.claim("a")
                try expect(claimed.map(\.attempt) == [attempt], "only the first message")
                try await store.write(at: Sample.now) {
                    try $0.recordAttempt(of: claimed[0], .failed(status: 500, detail: "no", retryAt: Sample.now))
                }
            }
            try expect(Set(try await store.claim("a").map(\.attempt)) == [1, 11], "both messages")
        },
        StoreClause("delivered and abandoned messages can be replayed, even to new endpoints") { store in
            try await store.listen(Endpoint(name: "a"))
            _ = try await store.update {
                $0.entitlementChange = .reported([Sample.granted], SentEntitlements(), nextComparison: nil)
            }
            let delivery = try unwrap(try await store.claim("a").first, "a delivery")
            try await store.write(at: Sample.now) {
                try $0.recordAttempt(of: delivery, .failed(status: nil, detail: "no", retryAt: nil))
            }
            try expect(try await store.claim("a", at: 1e6).isEmpty, "abandoned")
            try await store.listen(
                Endpoint(name: "a"), Endpoint(name: "b"), Endpoint(name: "m", kinds: [.customerMerged]))
            let event = delivery.message.event
            try expect(
                try await store.write(at: Sample.now) { try $0.replay(.event("evt_none")) } == 0, "an unknown event")
            try expect(
                try await store.write(at: Sample.now) { try $0.replay(.event(event)) } == 2,
                "two endpoints subscribe to it")
            let again = try unwrap(try await store.claim("a").first, "the replayed delivery")
            try expect(
                again.message == delivery.message && again.attempt == 1, "the same message with a new first attempt")
            try expect(
                try await store.claim("b").first?.message == delivery.message,
                "the message is replayed to the other endpoint, too")
            try expect(
                try await store.write(at: Sample.now, { try $0.replay(.since(Sample.now.addingTimeInterval(1))) }) == 0,
                "no messages since then")
            try expect(try await store.write(at: Sample.now, { try $0.replay(.since(Sample.now)) }) == 2, "since then")
        },
        StoreClause("the backlog of an endpoint is the number of its waiting messages, and the time of the oldest") {
            store in
            try await store.listen(Endpoint(name: "a"), Endpoint(name: "m", kinds: [.customerMerged]))
            for (id, seconds) in [("1", 60.0), ("2", 0), ("3", 30)] {
                _ = try await store.update(
                    [Identity(.appTransactionID, id)], in: Sample.production, at: Sample.now.addingTimeInterval(seconds)
                ) { known in
                    var update = CustomerUpdate(of: known)
                    update.entitlementChange = .reported([Sample.granted], SentEntitlements(), nextComparison: nil)
                    return (update, ())
                }
            }
            func expectBacklog(_ count: Int, _ seconds: Double) async throws {
                let backlog = try await store.read { try $0.webhookBacklog() }
                try expect(backlog["a"]?.count == count && backlog["m"] == nil, "\(count) messages")
                try expect(backlog["a"]?.oldest == Sample.now.addingTimeInterval(seconds), "since \(seconds) s")
            }
            try await expectBacklog(3, 0)
            let oldest = try unwrap(try await store.claim("a").first, "a delivery")
            try await store.write(at: Sample.now) { try $0.recordAttempt(of: oldest, .delivered(status: 200)) }
            try await expectBacklog(2, 30)
        },
        StoreClause("messages without waiting deliveries are removed after a time") { store in
            try await store.listen(Endpoint(name: "a"))
            _ = try await store.update {
                $0.entitlementChange = .reported([Sample.granted], SentEntitlements(), nextComparison: nil)
            }
            let later = Sample.now.addingTimeInterval(1)
            try expect(try await store.pruneMessages(before: later, limit: 10) == 0, "its delivery waits")
            let delivery = try unwrap(try await store.claim("a").first, "a delivery")
            try await store.write(at: Sample.now) { try $0.recordAttempt(of: delivery, .delivered(status: 200)) }
            try expect(try await store.pruneMessages(before: Sample.now, limit: 10) == 0, "newer messages stay")
            try expect(try await store.pruneMessages(before: later, limit: 10) == 1, "the old message is removed")
            try expect(try await store.outbox().isEmpty, "all of it")
        },
        StoreClause("concurrent workers never claim the same delivery") { store in
            try await store.listen(Endpoint(name: "a"))
            for number in 0..<40 {
                _ = try await store.update(String(number)) {
                    $0.entitlementChange = .reported([Sample.granted], SentEntitlements(), nextComparison: nil)
                }
            }
            let taken = try await withThrowingTaskGroup(of: [Int64].self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var taken: [Int64] = []
                        while true {
                            let claimed = try await store.claim("a", limit: 3)
                            guard !claimed.isEmpty else { return taken }
                            taken += claimed.map(\.id)
                        }
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            try expect(taken.count == 40 && Set(taken).count == 40, "each once, not \(taken.count)")
        },
    ]
}

extension Sample {
    static let granted = Message(.entitlementGranted, data: Array(#"{"entitlement":"everything"}"#.utf8))
}

/// Records the customers that a store passes for comparison.
private final class Seen: Sendable {
    private let seen = Locked<[Customer]>([])

    var customers: [Customer] { seen.withLock { $0 } }

    func compare(_ customer: Customer) -> EntitlementChange {
        seen.withLock { $0.append(customer) }
        return .reported([], customer.sentEntitlements ?? SentEntitlements(), nextComparison: nil)
    }
}

extension Store {
    func listen(_ endpoints: Endpoint...) async throws {
        try await write(at: Sample.now, locking: [.endpoints]) { try $0.register(endpoints, comparisonKey: "a") }
    }

    func outbox() async throws -> [(message: StoredMessage, deliveries: [StoredDelivery])] {
        try await read { try $0.messages(.since(.distantPast), limit: 100) }
    }

    func claim(_ endpoint: String, at seconds: Double = 0, limit: Int = 10) async throws -> [Delivery] {
        try await claimDeliveries(to: endpoint, at: Sample.now.addingTimeInterval(seconds), limit: limit, lease: 60)
    }

    fileprivate func due(at instant: Date) async throws -> [Customer] {
        let seen = Seen()
        _ = try await compareDueCustomers(at: instant, limit: 100) { seen.compare($0) }
        return seen.customers
    }
}
