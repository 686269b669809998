import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let customers: [StoreClause] = [
        StoreClause("a customer is found again by their signed app transaction ID") { store in
            let first = try await store.update { $0.add([Sample.artifact("a")], proving: [Sample.proof()]) }
            let second = try await store.update { _ in }
            try expect(first.id == second.id && first.publicID == second.publicID, "one customer")
            try expect(second.facts.proofs == [Sample.proof()], "the proof is still there")
            try expect(try await store.lookUp(first.id) == second, "a look-up gives the same")
        },
        StoreClause("a scan passes each customer of a range of numbers once, with environment and facts") {
            store in
            var made: [Customer] = []
            for number in 1...4 {
                made.append(
                    try await store.update("\(number)") {
                        $0.add([Sample.artifact("\(number)")], proving: [Sample.proof()])
                    })
            }
            let newest = try await store.read { try $0.highestCustomerRowID() }
            try expect(newest == made[3].id, "the highest number")
            var found: [(realm: UInt8, publicID: String, facts: CustomerFacts)] = []
            for range in [(0, made[1].id), (made[1].id, newest), (newest, newest + 10)] {
                try await store.database.forEachCustomer(after: range.0, through: range.1) {
                    realm, publicID, facts throws(StoreError) in
                    found.append(
                        (realm, String(decoding: publicID, as: UTF8.self), try CustomerFacts(decoding: facts)))
                }
            }
            try expect(
                found.map(\.publicID) == made.map(\.publicID), "each customer once, in the order of their numbers")
            try expect(found.allSatisfy { $0.realm == Sample.production.code }, "with their environment")
            try expect(found.map(\.facts) == made.map(\.facts), "with their facts")
        },
        StoreClause("a scan has each environment's number, and skips merged and unbound customers") { store in
            let sandbox = try await store.update("1", in: Realm(.sandbox)) { _ in }
            let (one, two) = (try await store.bring("1"), try await store.bring("2"))
            _ = try await store.recordUnbound(
                Identity(unboundLedBy: .app, naming: Identity(.appTransactionID, "1"), digest: "x"),
                naming: [Identity(.appTransactionID, "1")], in: Sample.production, at: Sample.now, Sample.shown("1"))
            _ = try await store.change(.merge(other: two.publicID), on: one)
            let newest = try await store.read { try $0.highestCustomerRowID() }
            var found: [String] = []
            try await store.database.forEachCustomer(after: 0, through: newest) { realm, publicID, _ in
                found.append("\(realm) \(String(decoding: publicID, as: UTF8.self))")
            }
            try expect(found == ["1 \(sandbox.publicID)", "0 \(one.publicID)"], "\(found)")
            try expect(try await store.read { try $0.customerCount() } == 4, "a count has all of them")
            let page = try await store.read { try $0.allCustomers(after: sandbox.id, limit: 2) }
            try expect(page.map(\.number) == [one.id, two.id], "\(page)")
            try expect(page.map(\.publicID) == [one.publicID, two.publicID], "\(page)")
            try expect(page.map(\.isLiving) == [true, false], "\(page)")
        },
        StoreClause("no customer has a number that was never assigned") { store in
            try expect(try await store.lookUp(4711) == nil, "an unassigned number finds no customer")
            try expect(try await store.lookUp(-1) == nil, "nil for a negative one")
        },
        StoreClause("the same app transaction ID in another environment belongs to another customer") { store in
            let one = try await store.update { $0.add([Sample.artifact("a")], purchases: [Sample.purchase("1")]) }
            for realm in [Realm(.sandbox), Realm(.xcode), Realm(.production, isTest: true)] {
                let other = try await store.update(in: realm) {
                    $0.add([Sample.artifact("a")], purchases: [Sample.purchase("2")])
                }
                try expect(other.id != one.id, "another customer in \(realm)")
                try expect(other.facts.purchases == [Sample.purchase("2")], "with only the purchases there")
                try expect(other.realm == realm, "the other customer is in the other environment")
                try expect(try await store.lookUp(other.id)?.realm == realm, "also when looked up")
            }
            try expect(try await store.lookUp(one.id) == one, "the first customer is unchanged")
        },
        StoreClause("if an app transaction ID and a transaction ID find two customers, the app transaction decides") {
            store in
            let one = try await store.update("1") { $0.identify(by: [Identity(.originalTransactionID, "x")]) }
            let two = try await store.update("2") { $0.identify(by: [Identity(.originalTransactionID, "x")]) }
            try expect(one.id != two.id, "two acquisitions are two customers, although they share a transaction")
            let identities = [Identity(.originalTransactionID, "x"), Identity(.appTransactionID, "2")]
            let found = try await store.update(identities, in: Sample.production, at: Sample.now) {
                (CustomerUpdate(of: $0), ())
            }
            try expect(found.0.id == two.id, "the customer with the acquisition")
            let byPurchase = try await store.update(
                [Identity(.originalTransactionID, "x")], in: Sample.production, at: Sample.now
            ) { (CustomerUpdate(of: $0), ()) }
            try expect(byPurchase.0.id == one.id, "a transaction ID stays with its first customer")
        },
        StoreClause("a customer who was found by a purchase can get an app transaction ID later") { store in
            let purchase = Identity(.originalTransactionID, "x")
            let first = try await store.update([purchase], in: Sample.production, at: Sample.now) {
                (CustomerUpdate(of: $0), ())
            }
            let both = [Identity(.appTransactionID, "704"), purchase]
            let second = try await store.update(both, in: Sample.production, at: Sample.now) {
                (CustomerUpdate(of: $0), ())
            }
            try expect(first.0.id == second.0.id, "one customer")
            let third = try await store.update { _ in }
            try expect(third.id == first.0.id, "also found by only the acquisition")
        },
        StoreClause("a new app transaction ID on a known device belongs to another customer") { store in
            let device = Identity(.device, "d")
            let one = try await store.update("1") { $0.identify(by: [device]) }
            let two = try await store.update(
                [Identity(.appTransactionID, "2"), device], in: Sample.production, at: Sample.now
            ) { (CustomerUpdate(of: $0), ()) }
            try expect(one.id != two.0.id, "two customers")
        },
        StoreClause("fifty customers have different public IDs") { store in
            var seen: Set<String> = []
            for number in 0..<50 { seen.insert(try await store.update(String(number)) { _ in }.publicID) }
            try expect(seen.count == 50, "50 ids")
        },
        StoreClause("a database has an ID of 16 bytes") { store in
            try expect(store.databaseID.count == 16, "16 bytes")
            try await store.read { try $0.check() }
        },
    ]

    static let concurrency: [StoreClause] = [
        StoreClause("64 concurrent updates of one customer are all saved, and create one customer") { store in
            let ids = try await withThrowingTaskGroup(of: Int64.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        try await store.update { update in
                            update.add(
                                [Sample.artifact("t\(number)", .transaction)],
                                purchases: [Sample.purchase(String(number))])
                        }.id
                    }
                }
                return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
            }
            try expect(ids.count == 1, "one customer")
            let customer = try unwrap(try await store.lookUp(try unwrap(ids.first, "an id")), "the customer")
            try expect(customer.facts.purchases.count == 64, "64 purchases, not \(customer.facts.purchases.count)")
            try expect(try await store.read { try $0.artifacts(of: customer.id) }.count == 64, "64 artifacts")
        },
        StoreClause("a look-up never sees half of a concurrent update") { store in
            let customer = try await store.update { $0.add([], proving: [Sample.proof()]) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 0..<50 {
                        _ = try await store.update { update in
                            // Each update adds two purchases.
                            update.add(
                                [], purchases: [Sample.purchase("a\(number)"), Sample.purchase("b\(number)")])
                        }
                    }
                }
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<200 {
                            let seen = try unwrap(try await store.lookUp(customer.id), "the customer")
                            try expect(seen.facts.purchases.count.isMultiple(of: 2), "an even number of purchases")
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
    ]
}
