import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let merges: [StoreClause] = [
        StoreClause("customers whom signed data names together are one, with all that was proven of each") { store in
            let bought = Identity(.originalTransactionID, "77")
            let (buyer, _) = try await store.amend([bought], in: Sample.production, at: Sample.now) {
                var amendment = Amendment(of: $0)
                amendment.add([Sample.artifact("77", .transaction)], purchases: [Sample.purchase("77")])
                amendment.completePurchases()
                return (amendment, ())
            }
            let owner = try await store.amend { $0.add([Sample.artifact("a")], proving: [Sample.proof()]) }
            try expect(buyer.id != owner.id, "two at first")
            let both = [Identity(.appTransactionID, "704"), bought]
            let (one, _) = try await store.amend(both, in: Sample.production, at: Sample.now) {
                (Amendment(of: $0), ())
            }
            try expect(one.id == owner.id, "the acquisition's record goes on")
            try expect(one.facts.purchases == [Sample.purchase("77")], "with the purchase")
            try expect(one.facts.proofs == [Sample.proof()], "with the proof")
            try expect(one.facts.purchasesAreComplete, "and what was said of the purchases")
            try expect(try await store.customer(buyer.id) == one, "whoever knew the other finds the one")
            try expect(try await store.customer(named: buyer.publicID) == one, "also by its public id")
            try expect(try await store.customer(by: bought, in: Sample.production) == one, "also by its identity")
            try expect(try await store.customers(after: 0, limit: 9) == [one.id], "only one is listed")
            let ledger = try unwrap(try await store.ledger(of: buyer.id), "a ledger")
            try expect(ledger.customer == one, "of the one")
            try expect(Set(ledger.artifacts.map(\.artifact.sha256)).count == 2, "with both artifacts")
            try expect(ledger.events.map(\.kind).contains(.merged), "and the merge as an event")
        },
        StoreClause("customers with acquisitions of their own stay two, whatever names them together") { store in
            let bought = Identity(.originalTransactionID, "77")
            let one = try await store.amend("1") { $0.identify(by: [bought]) }
            let other = try await store.amend("2") { _ in }
            let both = [Identity(.appTransactionID, "2"), bought]
            let (found, _) = try await store.amend(both, in: Sample.production, at: Sample.now) {
                (Amendment(of: $0), ())
            }
            try expect(found.id == other.id, "the acquisition decides")
            try expect(try await store.customer(one.id)?.id == one.id, "the other is still there")
        },
        StoreClause("two customers who each have an app transaction stay two, whether or not it has an ID") { store in
            // By the second, in a piece of their own where thousands of purchases are known.
            for (index, count) in [1, 800].enumerated() {
                for (mine, theirs) in [(nil, nil), (nil, "b"), ("a", nil)] as [(String?, String?)] {
                    let name = "\(mine ?? "") \(theirs ?? "") \(count)"
                    let names = ["1 \(name)", "2 \(name)"].map { Identity(.originalTransactionID, $0) }
                    let one = try await store.own(mine, by: names[0], boughtAt: 1_400_000_000, count)
                    let other = try await store.own(theirs, by: names[1], boughtAt: 1_600_000_000, count)
                    for both in [names, names.reversed()] {
                        let found = try await store.act(naming: both, size: index * 1000)
                        try expect(found.id == one.id || found.id == other.id, "\(name): one of them answers")
                        try expect(try await store.customer(one.id)?.id == one.id, "\(name): the first is themselves")
                        let after = try await store.customer(other.id)
                        try expect(after?.id == other.id && after?.facts == other.facts, "\(name): so is the other")
                    }
                    // The first acquisition, as an artifact of another time tells of it.
                    let again = Identity(.originalTransactionID, "3 \(name)")
                    let same = try await store.own(
                        mine == nil ? "c \(name)" : nil, by: again, boughtAt: 1_400_000_001, count)
                    try expect(same.id != one.id, "\(name): nothing said so yet")
                    let joined = try await store.act(naming: [names[0], again], size: index * 1000)
                    try expect(try await store.customer(one.id)?.id == joined.id, "\(name): one acquisition")
                    try expect(try await store.customer(same.id)?.id == joined.id, "\(name): is one customer")
                }
            }
        },
        StoreClause("a chain of merges leads to one") { store in
            let ids = ["1", "2", "3"].map { Identity(.originalTransactionID, $0) }
            for id in ids {
                _ = try await store.amend([id], in: Sample.production, at: Sample.now) { (Amendment(of: $0), ()) }
            }
            for pair in [[ids[1], ids[2]], [ids[0], ids[1]]] {
                _ = try await store.amend(pair, in: Sample.production, at: Sample.now) { (Amendment(of: $0), ()) }
            }
            let first = try await store.customer(by: ids[0], in: Sample.production)
            let last = try await store.customer(by: ids[2], in: Sample.production)
            try expect(first != nil && first == last, "one customer")
            try expect(try await store.customers(after: 0, limit: 9).count == 1, "only one is listed")
        },
        StoreClause("what is derived anew replaces what is known, and nobody else's") { store in
            let one = try await store.amend("1") { $0.add([Sample.artifact("a")], proving: [Sample.proof()]) }
            let other = try await store.amend("2") { $0.add([], proving: [Sample.proof("2")]) }
            let same = try await store.rebuild(one.id) { ledger throws(StoreError) in ledger.customer.facts }
            try expect(same?.hasChanged == false && same?.customer == one, "the same facts are no change")
            let none = try await store.rebuild(one.id) { _ throws(StoreError) in CustomerFacts() }
            try expect(none?.hasChanged == true, "others are")
            try expect(try await store.customer(one.id)?.facts == CustomerFacts(), "and stand in the record")
            try expect(try await store.customer(other.id) == other, "the other is as before")
            try expect(
                try await store.rebuild(4711) { _ throws(StoreError) in CustomerFacts() } == nil, "nobody is nil")
        },
    ]
}

extension Store {
    /// What a sync of one app transaction leaves that was found by a purchase, beside `count` purchases.
    fileprivate func own(
        _ id: String?, by identity: Identity, boughtAt date: TimeInterval, _ count: Int
    ) async throws -> Customer {
        let proof = AppProof(
            kind: .appTransaction, signedDate: Sample.now, id: id.map { .appTransaction($0) }, originalPlatform: .iOS,
            originalAppVersion: "37", originalPurchaseDate: Date(timeIntervalSince1970: date))
        return try await amend([identity], in: Sample.production, at: Sample.now) {
            var amendment = Amendment(of: $0)
            let purchases = (0..<count).map { Sample.purchase("\(identity.value) \($0)") }
            amendment.add([Sample.artifact(identity.value)], proving: [proof], purchases: purchases)
            return (amendment, ())
        }.0
    }

    /// `size`: how much the act adds; a large one is written in pieces.
    fileprivate func act(naming identities: [Identity], size: Int) async throws -> Customer {
        try await amend(identities, in: Sample.production, at: Sample.now, adding: size) {
            (Amendment(of: $0), ())
        }.0
    }
}
