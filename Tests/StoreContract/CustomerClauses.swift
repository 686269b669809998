import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let customers: [StoreClause] = [
        StoreClause("a customer is found again by what the App Store signed") { store in
            let first = try await store.amend { $0.add([Sample.artifact("a")], proving: [Sample.proof()]) }
            let second = try await store.amend { _ in }
            try expect(first.id == second.id && first.publicID == second.publicID, "one customer")
            try expect(second.facts.proofs == [Sample.proof()], "what was proven stays proven")
            try expect(try await store.customer(first.id) == second, "a look-up gives the same")
        },
        StoreClause("a scan tells the customers of a range of numbers, each as they are, and nobody who is another") {
            store in
            var made: [Customer] = []
            for number in 1...4 {
                made.append(
                    try await store.amend("\(number)") {
                        $0.add([Sample.artifact("\(number)")], proving: [Sample.proof()])
                    })
            }
            let newest = try await store.newestCustomer()
            try expect(newest == made[3].id, "the highest number")
            var found: [(realm: UInt8, publicID: String, facts: CustomerFacts)] = []
            for range in [(0, made[1].id), (made[1].id, newest), (newest, newest + 10)] {
                try await store.forEachCustomer(after: range.0, through: range.1) {
                    realm, publicID, facts throws(StoreError) in
                    found.append(
                        (realm, String(decoding: publicID, as: UTF8.self), try CustomerFacts(decoding: facts)))
                }
            }
            try expect(found.map(\.publicID) == made.map(\.publicID), "everybody once, by their numbers")
            try expect(found.allSatisfy { $0.realm == Sample.production.code }, "with their realm")
            try expect(found.map(\.facts) == made.map(\.facts), "with their facts")
        },
        StoreClause("nobody has a number that was never given") { store in
            try expect(try await store.customer(4711) == nil, "nil")
            try expect(try await store.customer(-1) == nil, "nil for a negative one")
        },
        StoreClause("realms never mix") { store in
            let one = try await store.amend { $0.add([Sample.artifact("a")]) }
            for realm in [Realm(.sandbox), Realm(.xcode), Realm(.production, isTest: true)] {
                let other = try await store.amend(in: realm) { $0.add([Sample.artifact("a")]) }
                try expect(other.id != one.id, "another customer in \(realm)")
                try expect(other.realm == realm, "of that realm")
                try expect(try await store.customer(other.id)?.realm == realm, "also when looked up")
            }
        },
        StoreClause("an app transaction's id decides before a transaction's") { store in
            let one = try await store.amend("1") { $0.identify(by: [Identity(.originalTransactionID, "x")]) }
            let two = try await store.amend("2") { $0.identify(by: [Identity(.originalTransactionID, "x")]) }
            try expect(one.id != two.id, "two acquisitions are two customers, whatever they share")
            let identities = [Identity(.originalTransactionID, "x"), Identity(.appTransactionID, "2")]
            let found = try await store.amend(identities, in: Sample.production, at: Sample.now) {
                (Amendment(of: $0), ())
            }
            try expect(found.0.id == two.id, "the acquisition decides")
            let byPurchase = try await store.amend(
                [Identity(.originalTransactionID, "x")], in: Sample.production, at: Sample.now
            ) { (Amendment(of: $0), ()) }
            try expect(byPurchase.0.id == one.id, "an identity stays with its first customer")
        },
        StoreClause("a customer known by a purchase gets the id of the acquisition later") { store in
            let purchase = Identity(.originalTransactionID, "x")
            let first = try await store.amend([purchase], in: Sample.production, at: Sample.now) {
                (Amendment(of: $0), ())
            }
            let both = [Identity(.appTransactionID, "704"), purchase]
            let second = try await store.amend(both, in: Sample.production, at: Sample.now) { (Amendment(of: $0), ()) }
            try expect(first.0.id == second.0.id, "one customer")
            let third = try await store.amend { _ in }
            try expect(third.id == first.0.id, "also by the acquisition alone")
        },
        StoreClause("an unknown acquisition on a known device is somebody else") { store in
            let device = Identity(.device, "d")
            let one = try await store.amend("1") { $0.identify(by: [device]) }
            let two = try await store.amend(
                [Identity(.appTransactionID, "2"), device], in: Sample.production, at: Sample.now
            ) { (Amendment(of: $0), ()) }
            try expect(one.id != two.0.id, "two customers")
        },
        StoreClause("public ids are random and different") { store in
            var seen: Set<String> = []
            for number in 0..<50 { seen.insert(try await store.amend(String(number)) { _ in }.publicID) }
            try expect(seen.count == 50, "50 ids")
        },
        StoreClause("a record has an id of its own that stays") { store in
            try expect(store.recordID.count == 16, "16 bytes")
            try await store.check()
        },
    ]

    static let concurrency: [StoreClause] = [
        StoreClause("64 acts at once on one customer all count, and make one customer") { store in
            let ids = try await withThrowingTaskGroup(of: Int64.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        try await store.amend { amendment in
                            amendment.add(
                                [Sample.artifact("t\(number)", .transaction)],
                                purchases: [Sample.purchase(String(number))])
                        }.id
                    }
                }
                return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
            }
            try expect(ids.count == 1, "one customer")
            let customer = try unwrap(try await store.customer(try unwrap(ids.first, "an id")), "the customer")
            try expect(customer.facts.purchases.count == 64, "64 purchases, not \(customer.facts.purchases.count)")
            try expect(try await store.artifacts(of: customer.id).count == 64, "64 artifacts")
        },
        StoreClause("look-ups see whole acts while others write") { store in
            let customer = try await store.amend { $0.add([], proving: [Sample.proof()]) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 0..<50 {
                        _ = try await store.amend { amendment in
                            // Always two at a time.
                            amendment.add(
                                [], purchases: [Sample.purchase("a\(number)"), Sample.purchase("b\(number)")])
                        }
                    }
                }
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<200 {
                            let seen = try unwrap(try await store.customer(customer.id), "the customer")
                            try expect(seen.facts.purchases.count.isMultiple(of: 2), "no half of an act")
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
    ]
}
