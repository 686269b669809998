import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let notifications: [StoreClause] = [
        StoreClause("a stored notification is read unchanged") { store in
            let sent = Sample.notification("1")
            let reception = try await store.receive(sent, about: [Identity(.originalTransactionID, "x")])
            try expect(reception.isNew, "the notification is new")
            let customer = try unwrap(reception.customer, "a customer")
            let rows = try unwrap(try await store.read { try $0.rows(of: customer.id) }, "the rows")
            try expect(rows.notifications.map(\.notification) == [sent], "the stored notification is unchanged")
            try expect(rows.notifications.map(\.receivedAt) == [Sample.now], "the time of arrival is stored")
        },
        StoreClause("a repeated notification changes nothing, and a later sync finds its customer") { store in
            let identities = [Identity(.appTransactionID, "704"), Identity(.originalTransactionID, "x")]
            let first = try await store.receive(Sample.notification("1"), about: identities) {
                $0.add([], purchases: [Sample.purchase("1")])
            }
            let second = try await store.receive(Sample.notification("1"), about: identities) {
                $0.add([], purchases: [Sample.purchase("2")])
            }
            try expect(!second.isNew, "the repeated notification is known")
            try expect(second.customer == first.customer, "the unchanged customer")
            let synced = try await store.update("704") { $0.add([], proving: [Sample.proof()]) }
            try expect(synced.id == first.customer?.id, "one customer")
            try expect(synced.facts.purchases == [Sample.purchase("1")], "with the purchase of the notification")
        },
        StoreClause("a notification without identities is stored without a customer") { store in
            let reception = try await store.receive(Sample.notification("t"), about: [])
            try expect(reception.isNew && reception.customer == nil, "no customer")
            try expect(try await store.read { try $0.customers(after: 0, limit: 9) }.isEmpty, "no customer was made")
            try expect(
                try await store.receive(Sample.notification("t"), about: []).isNew == false,
                "the repeated notification is known")
        },
        StoreClause("of 64 concurrent deliveries of one notification, one delivery is new") { store in
            let new = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<64 {
                    group.addTask {
                        try await store.receive(
                            Sample.notification("1"), about: [Identity(.originalTransactionID, "x")]
                        ).isNew
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            try expect(new == 1, "\(new) were new")
        },
        StoreClause("an app account token finds all customers with the token, and merges no customers") { store in
            let token = "9b2f0e52-6c0c-4a53-9a0f-5d1f4a0f7b11"
            for (id, purchase) in [("1", "x"), ("1", "y"), ("2", "z")] {
                _ = try await store.update(id) { update in
                    guard let named = Identity(appAccountToken: token.uppercased(), of: purchase) else { return }
                    update.identify(by: [named])
                }
            }
            let found = try await store.read { try $0.customers(withAnyID: token, in: [Sample.production]) }
            try expect(found.count == 2, "two, not \(found.count)")
            try expect(
                try await store.read { try $0.customers(withAnyID: token, in: [Realm(.sandbox)]) }.isEmpty,
                "none elsewhere")
            try expect(Identity(appAccountToken: "me", of: "x") == nil, "a text that isn't a UUID isn't a token")
        },
    ]

    static let trials: [StoreClause] = [
        StoreClause("a repeated trial session is counted once") { store in
            let customer = try await store.update { _ in }
            let first = try unwrap(try await store.begin("a", for: customer.id, of: 2), "a session")
            try expect(first.isCounted && first.use.sessions == 0, "the first session is counted")
            let again = try unwrap(try await store.begin("a", for: customer.id, of: 2), "a session")
            try expect(!again.isCounted && again.use.sessionBegan == Sample.now, "counted before")
            try expect(again.use.sessions == 1 && again.use.since == Sample.now, "one session")
            _ = try await store.begin("b", for: customer.id, of: 2)
            let over = try unwrap(try await store.begin("c", for: customer.id, of: 2), "an answer")
            try expect(
                !over.isCounted && over.use.sessions == 2 && over.use.sessionBegan == nil, "no third session is counted"
            )
            let other = try unwrap(
                try await store.begin("c", for: customer.id, of: 2, entitlement: "cloud"),
                "a session of another entitlement")
            try expect(other.isCounted, "another entitlement has another trial")
        },
        StoreClause("64 concurrent trial sessions never exceed the allowed number") { store in
            let customer = try await store.update { _ in }
            let counted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<64 {
                    group.addTask { try await store.begin("s\(number)", for: customer.id, of: 5)?.isCounted == true }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            try expect(counted == 5, "\(counted) were counted")
        },
        StoreClause("a merged customer has the trial sessions of every account") { store in
            let one = try await store.update([Identity(.originalTransactionID, "x")])
            let two = try await store.update([Identity(.originalTransactionID, "y")])
            _ = try await store.begin("a", for: one.id, of: 3)
            _ = try await store.write(at: Sample.after(-60)) {
                try $0.beginTrialSession("a", of: "everything", for: two.id) { _, _ in true }
            }
            _ = try await store.begin("b", for: two.id, of: 3)
            let both = try await store.update([
                Identity(.originalTransactionID, "x"), Identity(.originalTransactionID, "y"),
            ])
            let next = try unwrap(try await store.begin("c", for: both.id, of: 3), "a session")
            try expect(next.use.sessions == 2, "two different sessions, not \(next.use.sessions)")
            let repeated = try unwrap(try await store.begin("a", for: both.id, of: 3), "a session")
            try expect(repeated.use.since == Sample.after(-60), "since the first of both accounts")
            try expect(
                repeated.use.sessionBegan == Sample.after(-60) && !repeated.isCounted, "the session's earlier beginning"
            )
        },
        StoreClause("the first and the latest trial session of each entitlement are read over all merged customers") {
            store in
            let one = try await store.update([Identity(.originalTransactionID, "x")])
            let two = try await store.update([Identity(.originalTransactionID, "y")])
            try expect(try await store.read { try $0.begunSessions(of: one.id) }.isEmpty, "none yet")
            try expect(
                try await store.read { try $0.begunSessions(of: 4711) }.isEmpty, "none of a customer that isn't there")
            func begin(_ session: String, _ customer: Customer, after seconds: Double, _ name: String) async throws {
                _ = try await store.write(at: Sample.now.addingTimeInterval(seconds)) {
                    try $0.beginTrialSession(session, of: name, for: customer.id) { _, _ in true }
                }
            }
            try await begin("a", one, after: 10, "everything")
            try await begin("b", one, after: 30, "everything")
            try await begin("b", one, after: 99, "everything")
            try await begin("a", one, after: 50, "cloud")
            try await begin("c", two, after: 5, "everything")
            func times(_ customer: Customer) async throws -> [String: [Double]] {
                try await store.read { try $0.begunSessions(of: customer.id) }.mapValues { sessions in
                    [sessions.first, sessions.latest].map { $0.timeIntervalSince(Sample.now) }
                }
            }
            try expect(
                try await times(one) == ["everything": [10, 30], "cloud": [50, 50]], "a repeated session counts once")
            try expect(try await times(two) == ["everything": [5, 5]], "only the customer's own times")
            let both = try await store.update([
                Identity(.originalTransactionID, "x"), Identity(.originalTransactionID, "y"),
            ])
            try expect(
                try await times(both) == ["everything": [5, 30], "cloud": [50, 50]],
                "the first and last times come from both merged customers")
        },
        StoreClause("an unknown or an unbound customer can't begin a trial") { store in
            try expect(try await store.begin("a", for: 4711, of: 3) == nil, "an unknown customer")
            let unbound = try await store.update([Identity(.unbound, "app 1 704")])
            try expect(try await store.begin("a", for: unbound.id, of: 3) == nil, "an unbound customer")
        },
    ]

    static let devices: [StoreClause] = [
        StoreClause("devices and their entitlement tokens are counted") { store in
            let customer = try await store.see("a", getsToken: true)
            _ = try await store.see("a", getsToken: false, after: 60)
            _ = try await store.see("b", getsToken: true, after: 30)
            let devices = try await store.devices(of: customer.id)
            try expect(devices.map(\.device) == ["a", "b"], "the latest first")
            try expect(devices.map(\.entitlementTokens) == [1, 1], "one token for each device")
            try expect(devices.first?.firstSeen == Sample.now, "first seen")
            try expect(devices.first?.lastSeen == Sample.now.addingTimeInterval(60), "last seen")
        },
        StoreClause("more devices than the limit cause an event, once a day") { store in
            var id: Int64 = 0
            for number in 0..<8 { id = try await store.see("d\(number)", limit: 3, after: Double(number)).id }
            let seen = id
            let first = try unwrap(try await store.read { try $0.rows(of: seen) }, "the rows").events
            try expect(first.map(\.kind) == [.manyDevices], "one event, not \(first.count)")
            try expect(first.first?.detail == ["devices": "4", "limit": "3"], "with the facts")
            // The event was stored with the fourth device, after three seconds.
            _ = try await store.see("f", limit: 3, after: 86_402.999)
            try expect(try await store.read { try $0.rows(of: seen) }?.events.count == 1, "no event within a day")
            _ = try await store.see("d0", limit: 3, after: 86_403)
            try expect(try await store.read { try $0.rows(of: seen) }?.events.count == 1, "a known device is no event")
            _ = try await store.see("e", limit: 3, after: 86_403)
            try expect(
                try await store.read { try $0.rows(of: seen) }?.events.count == 2,
                "a new device on another day causes another event")
        },
        StoreClause("the devices of merged customers are counted together, each device once") { store in
            let customer = try await store.see("a", limit: 3)
            var other = customer
            for device in ["a", "b", "c"] { other = try await store.see(device, of: "705", limit: 3) }
            try expect(
                try await store.change(.merge(other: other.publicID), on: customer).isNew, "the merge is a change")
            let id = customer.id
            try expect(
                try await store.read { try $0.rows(of: id) }?.events.map(\.kind) == [.merged], "three aren't too many")
            _ = try await store.see("d", limit: 3)
            let event = try await store.read { try $0.rows(of: id) }?.events.last
            try expect(event?.kind == .manyDevices && event?.detail["devices"] == "4", "\(String(describing: event))")
        },
    ]
}

extension Sample {
    static func notification(_ uuid: String) -> StoredNotification {
        StoredNotification(
            realm: production, uuid: uuid, type: "DID_RENEW", subtype: "BILLING_RECOVERY", signedDate: now,
            bytes: header + Array(".\(uuid).c2lnbmF0dXJl".utf8))
    }
}

extension Store {
    fileprivate func receive(
        _ notification: StoredNotification, about identities: [Identity],
        _ change: @escaping @Sendable (inout CustomerUpdate) -> Void = { _ in }
    ) async throws -> Reception {
        try await receive(notification, about: identities, at: Sample.now) { known in
            var update = CustomerUpdate(of: known)
            change(&update)
            return update
        }
    }

    fileprivate func update(_ identities: [Identity]) async throws -> Customer {
        try await update(identities, in: Sample.production, at: Sample.now) { (CustomerUpdate(of: $0), ()) }.0
    }

    fileprivate func begin(
        _ session: String, for customer: Int64, of count: Int, entitlement: String = "everything"
    ) async throws -> (customer: Customer, use: TrialUse, isCounted: Bool)? {
        try await write(at: Sample.now) {
            try $0.beginTrialSession(session, of: entitlement, for: customer) { $1.sessions < count }
        }
    }

    fileprivate func see(
        _ device: String, of account: String = "704", getsToken: Bool = true, limit: Int = 20,
        after seconds: Double = 0
    ) async throws -> Customer {
        let identities = [Identity(.appTransactionID, account)]
        return try await update(identities, in: Sample.production, at: Sample.now.addingTimeInterval(seconds)) {
            known in
            var update = CustomerUpdate(of: known)
            update.addUse(of: DeviceUse(device: device, getsEntitlementToken: getsToken, limit: limit))
            return (update, ())
        }.0
    }
}
