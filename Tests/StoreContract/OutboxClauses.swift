import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let outbox: [StoreClause] = [
        StoreClause("where nobody listens, nothing is kept for anybody") { store in
            _ = try await store.amend { $0.announcement = .told([Sample.granted], Announced(), nextLook: nil) }
            _ = try await store.record(policy: [1], sha256: [1], at: Sample.now)
            try expect(try await store.outbox().isEmpty, "an empty outbox")
            _ = try await store.amend { $0.completePurchases() }
            try expect(try await store.due(at: .distantFuture).isEmpty, "nobody to look at")
        },
        StoreClause("a message is written with the act, for those who want it") { store in
            try await store.listen(Endpoint(name: "all"), Endpoint(name: "merges", kinds: [.customerMerged]))
            let customer = try await store.amend {
                $0.identify(by: [Identity(.userID, "u2"), Identity(.userID, "u1")])
                $0.announcement = .told([Sample.granted], Announced(), nextLook: nil)
            }
            let outbox = try await store.outbox()
            let message = try unwrap(outbox.first?.message, "a message")
            try expect(outbox.count == 1 && message.type == "entitlement.granted", "one")
            try expect(message.publicID == customer.publicID && message.realm == customer.realm, "of the customer")
            try expect(message.userIDs == ["u1", "u2"], "with the app's own ids")
            try expect(message.data == Sample.granted.data && message.createdAt == Sample.now, "as it was")
            try expect(outbox.first?.deliveries.map(\.endpoint) == ["all"], "for one endpoint")
            try expect(message.event.hasPrefix("evt_") && message.event.utf8.count == 28, "with an id")
        },
        StoreClause("customers who turn out to be one are told of") { store in
            try await store.listen(Endpoint(name: "all"))
            let one = try await store.amend("1") { _ in }
            let identities = [Identity(.appTransactionID, "1"), Identity(.originalTransactionID, "x")]
            let other = try await store.amend([identities[1]], in: Sample.production, at: Sample.now) {
                (Amendment(of: $0), ())
            }.0
            _ = try await store.amend(identities, in: Sample.production, at: Sample.now) { (Amendment(of: $0), ()) }
            let merged = try unwrap(
                try await store.outbox().first { $0.message.type == "customer.merged" }?.message, "a message")
            try expect(merged.publicID == one.publicID, "of the one who stays")
            let data = #"{"because":"signedTogether","merged":"\#(other.publicID)"}"#
            try expect(merged.data == Array(data.utf8), "with the other")
        },
        StoreClause("a policy is told of once, with its version") { store in
            try await store.listen(Endpoint(name: "all"))
            for _ in 0..<2 { _ = try await store.start(with: [1], sha256: [0x0A, 0xFF], at: Sample.now) }
            let outbox = try await store.outbox()
            try expect(outbox.map(\.message.type) == ["policy.published"], "once")
            let data = #"{"act":"start","sha256":"0aff","version":"1"}"#
            try expect(outbox.first?.message.data == Array(data.utf8), "with version and hash")
        },
    ]

    static let endpoints: [StoreClause] = [
        StoreClause("who is served by another process goes on to be told") { store in
            try await store.listen(Endpoint(name: "theirs"))
            // Another one begins, with others or with none.
            try await store.listen()
            try await store.listen(Endpoint(name: "ours"))
            _ = try await store.amend { $0.announcement = .told([Sample.granted], Announced(), nextLook: nil) }
            try expect(try await store.outbox().first?.deliveries.map(\.endpoint) == ["ours", "theirs"], "both")
            try expect(try await store.keep([Endpoint(name: "theirs")], at: Sample.now), "it is there")
        },
        StoreClause("whom nobody serves any more is told no more, and what waited is counted") { store in
            try await store.listen(Endpoint(name: "gone"), Endpoint(name: "stays"))
            _ = try await store.amend { $0.announcement = .told([Sample.granted], Announced(), nextLook: nil) }
            let later = Sample.now.addingTimeInterval(600)
            let before = try await store.endpoints()
            try expect(before.map(\.name) == ["gone", "stays"], "both")
            try expect(try await store.keep([Endpoint(name: "stays")], at: later), "it is there")
            let since = Sample.now.addingTimeInterval(1)
            try expect(
                try await store.forget(before, at: later) == [ForgottenEndpoint(name: "gone", waiting: 1)],
                "one, and its message; the other gave a sign")
            try expect(try await store.claim("gone", at: 1e6).isEmpty, "given up")
            let kept = try unwrap(try await store.claim("stays", at: 1e6).first, "the other's is not")
            try await store.settle(kept, as: .delivered(status: 200), at: later)
            try expect(try await store.pruneMessages(before: since, limit: 10) == 1, "and nothing is kept for it")
            try expect(try await !store.keep([Endpoint(name: "gone")], at: later), "it must be announced to again")
        },
        StoreClause("where the last one is gone nothing is told, and who comes then looks at everybody") { store in
            try await store.listen(Endpoint(name: "all"))
            while try await store.announceAll(at: Sample.now, limit: 100, { Seen().judge($0) }) {}
            _ = try await store.forget(try await store.endpoints(), at: Sample.now)
            let customer = try await store.amend { $0.completePurchases() }
            try expect(try await store.due(at: .distantFuture).isEmpty, "nobody to look at")
            try await store.listen(Endpoint(name: "all"))
            let seen = Seen()
            while try await store.announceAll(at: Sample.now, limit: 100, { seen.judge($0) }) {}
            try expect(seen.customers.map(\.id) == [customer.id], "everybody")
        },
    ]

    static let announcements: [StoreClause] = [
        StoreClause("who changed without a comparison is looked at, and then no more") { store in
            try await store.listen(Endpoint(name: "all"))
            let customer = try await store.amend { $0.completePurchases() }
            let due = try await store.due(at: Sample.now)
            try expect(due.map(\.id) == [customer.id] && due.first?.announced == Announced(), "nothing was told yet")
            try expect(try await store.due(at: .distantFuture).isEmpty, "looked at")
            let grant = SupportAct(.grant, of: "everything", date: Sample.now)
            _ = try await store.record(grant, for: customer.id)
            try expect(try await store.due(at: Sample.now).map(\.id) == [customer.id], "an act of support is noticed")
        },
        StoreClause("who has an end is looked at when it comes") { store in
            try await store.listen(Endpoint(name: "all"))
            let told = Announced(rights: ["everything": .init(until: Sample.now.addingTimeInterval(60))])
            let end = Sample.now.addingTimeInterval(60)
            let customer = try await store.amend { $0.announcement = .told([], told, nextLook: end) }
            try expect(try await store.due(at: Sample.now.addingTimeInterval(59)).isEmpty, "not before")
            let due = try await store.due(at: end)
            try expect(due.map(\.id) == [customer.id] && due.first?.announced == told, "then, with what was told")
        },
        StoreClause("what is told of a customer who is looked at is told once") { store in
            try await store.listen(Endpoint(name: "all"))
            _ = try await store.amend { $0.completePurchases() }
            for _ in 0..<2 {
                _ = try await store.announceDue(at: Sample.now, limit: 10) { customer in
                    let told = Announced(rights: ["everything": .init(until: nil)])
                    return .told(customer.announced == told ? [] : [Sample.granted], told, nextLook: nil)
                }
            }
            try expect(try await store.outbox().map(\.message.type) == ["entitlement.granted"], "once")
        },
        StoreClause("a customer of whom nothing can be said is asked about again later") { store in
            try await store.listen(Endpoint(name: "all"))
            _ = try await store.amend { $0.completePurchases() }
            try expect(try await store.announceDue(at: Sample.now, limit: 10) { _ in nil } == 1, "one")
            try expect(try await store.announceDue(at: Sample.now, limit: 10) { _ in nil } == 0, "not at once")
            let later = Sample.now.addingTimeInterval(61)
            try expect(try await store.announceDue(at: later, limit: 10) { _ in nil } == 1, "a minute later")
        },
        StoreClause("new terms look at everybody once, but at no visitor") { store in
            for number in 0..<5 { _ = try await store.amend(String(number)) { _ in } }
            _ = try await store.amend([Identity(.visit, "app 1 x")], in: Sample.production, at: Sample.now) {
                (Amendment(of: $0), ())
            }
            for (terms, expected) in [("a", 5), ("a", 0), ("b", 5)] {
                try await store.announce(to: [Endpoint(name: "all")], under: terms, at: Sample.now)
                let seen = Seen()
                while try await store.announceAll(at: Sample.now, limit: 2, { seen.judge($0) }) {}
                try expect(seen.customers.count == expected, "\(expected), not \(seen.customers.count)")
            }
        },
    ]

    static let deliveries: [StoreClause] = [
        StoreClause("what is claimed is nobody else's until the lease ends") { store in
            try await store.listen(Endpoint(name: "a"), Endpoint(name: "b"))
            _ = try await store.amend { $0.announcement = .told([Sample.granted], Announced(), nextLook: nil) }
            let first = try await store.claim("a")
            try expect(first.map(\.attempt) == [1] && first.first?.queuedAt == Sample.now, "a first attempt")
            try expect(try await store.claim("a").isEmpty, "it is taken")
            try expect(try await store.claim("b").count == 1, "another endpoint has its own")
            try expect(try await store.claim("a", at: 59).isEmpty, "the lease holds")
            let second = try await store.claim("a", at: 60)
            try expect(second.map(\.attempt) == [2], "its end frees it")
            // The first worker was only slow: what it says is logged, and the second goes on.
            try await store.settle(
                try unwrap(first.first, "1"), as: .failed(status: nil, detail: "late", retryAt: nil), at: Sample.now)
            try await store.settle(try unwrap(second.first, "2"), as: .delivered(status: 204), at: Sample.now)
            let delivery = try unwrap(try await store.outbox().first?.deliveries.first, "a delivery")
            try expect(delivery.deliveredAt == Sample.now && delivery.nextAttempt == nil, "delivered")
            try expect(delivery.attempts.map(\.status) == [nil, 204], "both are logged")
            try expect(try await store.claim("a", at: 1e6).isEmpty, "and over")
        },
        StoreClause("a customer's messages come in their order, and nobody waits for another customer") { store in
            try await store.listen(Endpoint(name: "a"))
            for id in ["1", "1", "2"] {
                _ = try await store.amend(id) {
                    // Each time something else, so that it is told.
                    let told = Announced(rights: [UUID().uuidString: .init(until: nil)])
                    $0.announcement = .told([Sample.granted], told, nextLook: nil)
                }
            }
            let first = try await store.claim("a")
            try expect(first.count == 2 && Set(first.map(\.message.publicID)).count == 2, "one of each")
            let retry = Sample.now.addingTimeInterval(100)
            for delivery in first {
                try await store.settle(
                    delivery, as: .failed(status: 500, detail: "no", retryAt: retry), at: Sample.now)
            }
            try expect(try await store.claim("a", at: 99).isEmpty, "the second waits for the first")
            let again = try await store.claim("a", at: 100)
            try expect(again.map(\.message.event) == first.map(\.message.event), "the same two")
            for delivery in again { try await store.settle(delivery, as: .delivered(status: 200), at: Sample.now) }
            try expect(try await store.claim("a", at: 100).count == 1, "then the second")
        },
        StoreClause("what was delivered or given up can be replayed, also to who came later") { store in
            try await store.listen(Endpoint(name: "a"))
            _ = try await store.amend { $0.announcement = .told([Sample.granted], Announced(), nextLook: nil) }
            let delivery = try unwrap(try await store.claim("a").first, "a delivery")
            try await store.settle(delivery, as: .failed(status: nil, detail: "no", retryAt: nil), at: Sample.now)
            try expect(try await store.claim("a", at: 1e6).isEmpty, "given up")
            try await store.listen(
                Endpoint(name: "a"), Endpoint(name: "b"), Endpoint(name: "m", kinds: [.customerMerged]))
            let event = delivery.message.event
            try expect(try await store.replay(.event("evt_none"), at: Sample.now) == 0, "nobody's event")
            try expect(try await store.replay(.event(event), at: Sample.now) == 2, "two who want it")
            let again = try unwrap(try await store.claim("a").first, "again")
            try expect(again.message == delivery.message && again.attempt == 1, "the same message, anew")
            try expect(try await store.claim("b").first?.message == delivery.message, "also for the other")
            try expect(try await store.replay(.since(Sample.now.addingTimeInterval(1)), at: Sample.now) == 0, "later")
            try expect(try await store.replay(.since(Sample.now), at: Sample.now) == 2, "since then")
        },
        StoreClause("what nobody waits for is removed in time") { store in
            try await store.listen(Endpoint(name: "a"))
            _ = try await store.amend { $0.announcement = .told([Sample.granted], Announced(), nextLook: nil) }
            let later = Sample.now.addingTimeInterval(1)
            try expect(try await store.pruneMessages(before: later, limit: 10) == 0, "it waits")
            let delivery = try unwrap(try await store.claim("a").first, "a delivery")
            try await store.settle(delivery, as: .delivered(status: 200), at: Sample.now)
            try expect(try await store.pruneMessages(before: Sample.now, limit: 10) == 0, "not so old")
            try expect(try await store.pruneMessages(before: later, limit: 10) == 1, "gone")
            try expect(try await store.outbox().isEmpty, "all of it")
        },
        StoreClause("many workers at once never take the same delivery") { store in
            try await store.listen(Endpoint(name: "a"))
            for number in 0..<40 {
                _ = try await store.amend(String(number)) {
                    $0.announcement = .told([Sample.granted], Announced(), nextLook: nil)
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

/// Whom a store asked about.
private final class Seen: @unchecked Sendable {
    // Sound: touched between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    private var seen: [Customer] = []

    var customers: [Customer] {
        lock.lock()
        defer { lock.unlock() }
        return seen
    }

    func judge(_ customer: Customer) -> Announcement {
        lock.lock()
        defer { lock.unlock() }
        seen.append(customer)
        return .told([], customer.announced ?? Announced(), nextLook: nil)
    }
}

extension Store {
    func listen(_ endpoints: Endpoint...) async throws {
        try await announce(to: endpoints, under: "terms", at: Sample.now)
    }

    fileprivate func outbox() async throws -> [(message: RecordedMessage, deliveries: [RecordedDelivery])] {
        try await messages(.since(.distantPast), limit: 100)
    }

    fileprivate func claim(_ endpoint: String, at seconds: Double = 0, limit: Int = 10) async throws -> [Delivery] {
        try await claimDeliveries(to: endpoint, at: Sample.now.addingTimeInterval(seconds), limit: limit, lease: 60)
    }

    fileprivate func due(at instant: Date) async throws -> [Customer] {
        let seen = Seen()
        _ = try await announceDue(at: instant, limit: 100) { seen.judge($0) }
        return seen.customers
    }
}
