import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let merges: [StoreClause] = [
        StoreClause("customers that signed data connects become one customer, with the facts of each customer") {
            store in
            let bought = Identity(.originalTransactionID, "77")
            let (buyer, _) = try await store.update([bought], in: Sample.production, at: Sample.now) {
                var update = CustomerUpdate(of: $0)
                update.add([Sample.artifact("77", .transaction)], purchases: [Sample.purchase("77")])
                update.completePurchases()
                return (update, ())
            }
            let owner = try await store.update { $0.add([Sample.artifact("a")], proving: [Sample.proof()]) }
            try expect(buyer.id != owner.id, "two at first")
            let both = [Identity(.appTransactionID, "704"), bought]
            let (one, _) = try await store.update(both, in: Sample.production, at: Sample.now) {
                (CustomerUpdate(of: $0), ())
            }
            try expect(one.id == owner.id, "the customer with the acquisition remains")
            try expect(one.facts.purchases == [Sample.purchase("77")], "with the purchase")
            try expect(one.facts.proofs == [Sample.proof()], "with the proof")
            try expect(one.facts.purchasesAreComplete, "and its purchases are complete")
            try expect(try await store.lookUp(buyer.id) == one, "the other customer's row ID finds the merged customer")
            try expect(
                try await store.read { try $0.customer(named: buyer.publicID) } == one,
                "the buyer's public ID finds the merged customer")
            try expect(try await store.customer(by: bought, in: Sample.production) == one, "so does its identity")
            try expect(try await store.read { try $0.customers(after: 0, limit: 9) } == [one.id], "only one is listed")
            try expect(
                try await store.rebuild(buyer.id) { _ throws(StoreError) in CustomerFacts() } == nil,
                "the facts of a merged customer aren't rebuilt")
            let rows = try unwrap(try await store.read { try $0.rows(of: buyer.id) }, "the rows")
            try expect(rows.customer == one, "of the merged customer")
            try expect(Set(rows.artifacts.map(\.artifact.sha256)).count == 2, "with both artifacts")
            try expect(rows.events.map(\.kind).contains(.merged), "and the merge as an event")
        },
        StoreClause("customers with different acquisitions stay separate, even if signed data connects them") { store in
            let bought = Identity(.originalTransactionID, "77")
            let one = try await store.update("1") {
                $0.identify(by: [bought])
                $0.add([], purchases: [Sample.purchase("77")])
            }
            let other = try await store.update("2") { _ in }
            let both = [Identity(.appTransactionID, "2"), bought]
            let (found, _) = try await store.update(both, in: Sample.production, at: Sample.now) {
                (CustomerUpdate(of: $0), ())
            }
            try expect(found.id == other.id, "the acquisition decides")
            try expect(found.facts == other.facts, "without the other customer's purchase")
            let kept = try await store.lookUp(one.id)
            try expect(kept?.id == one.id && kept?.facts == one.facts, "the other is still there, with the purchase")
        },
        StoreClause("two customers who each have an app transaction stay separate, with or without its ID") { store in
            // In the first round, the customers have one purchase. In the second round, they have so many purchases
            // that the update is written in pieces.
            for (index, count) in [1, 800].enumerated() {
                for (mine, theirs) in [(nil, nil), (nil, "b"), ("a", nil)] as [(String?, String?)] {
                    let name = "\(mine ?? "") \(theirs ?? "") \(count)"
                    let names = ["1 \(name)", "2 \(name)"].map { Identity(.originalTransactionID, $0) }
                    let one = try await store.own(mine, by: names[0], boughtAt: 1_400_000_000, count)
                    let other = try await store.own(theirs, by: names[1], boughtAt: 1_600_000_000, count)
                    for both in [names, names.reversed()] {
                        let found = try await store.change(naming: both, size: index * 1000)
                        try expect(found.id == one.id || found.id == other.id, "\(name): one of the two is returned")
                        try expect(try await store.lookUp(one.id)?.id == one.id, "\(name): the first stays separate")
                        let after = try await store.lookUp(other.id)
                        try expect(after?.id == other.id && after?.facts == other.facts, "\(name): so does the other")
                    }
                    // This artifact proves the first acquisition. Its date differs by a second, which is within the
                    // tolerance.
                    let again = Identity(.originalTransactionID, "3 \(name)")
                    let same = try await store.own(
                        mine == nil ? "c \(name)" : nil, by: again, boughtAt: 1_400_000_001, count)
                    try expect(same.id != one.id, "\(name): not yet known to be the same")
                    let joined = try await store.change(naming: [names[0], again], size: index * 1000)
                    try expect(try await store.lookUp(one.id)?.id == joined.id, "\(name): one acquisition")
                    try expect(try await store.lookUp(same.id)?.id == joined.id, "\(name): is one customer")
                }
            }
        },
        StoreClause("a chain of merges leads to one customer") { store in
            let ids = ["1", "2", "3"].map { Identity(.originalTransactionID, $0) }
            for id in ids {
                _ = try await store.update([id], in: Sample.production, at: Sample.now) { (CustomerUpdate(of: $0), ()) }
            }
            for pair in [[ids[1], ids[2]], [ids[0], ids[1]]] {
                _ = try await store.update(pair, in: Sample.production, at: Sample.now) { (CustomerUpdate(of: $0), ()) }
            }
            let first = try await store.customer(by: ids[0], in: Sample.production)
            let last = try await store.customer(by: ids[2], in: Sample.production)
            try expect(first != nil && first == last, "one customer")
            try expect(try await store.read { try $0.customers(after: 0, limit: 9) }.count == 1, "only one is listed")
        },
        StoreClause("rebuilt facts replace the facts of one customer and of no other customer") { store in
            let one = try await store.update("1") { $0.add([Sample.artifact("a")], proving: [Sample.proof()]) }
            let other = try await store.update("2") { $0.add([], proving: [Sample.proof("2")]) }
            let same = try await store.rebuild(one.id) { rows throws(StoreError) in rows.customer.facts }
            try expect(same?.hasChanged == false && same?.customer == one, "the same facts are no change")
            let none = try await store.rebuild(one.id) { _ throws(StoreError) in CustomerFacts() }
            try expect(none?.hasChanged == true, "other facts are a change")
            try expect(try await store.lookUp(one.id)?.facts == CustomerFacts(), "and are stored")
            try expect(try await store.lookUp(other.id) == other, "the other is as before")
            try expect(
                try await store.rebuild(4711) { _ throws(StoreError) in CustomerFacts() } == nil,
                "an unknown customer gives nil")
        },
    ]
}

extension Store {
    /// Writes what a sync of one app transaction and `count` purchases writes, for a customer found by a purchase.
    fileprivate func own(
        _ id: String?, by identity: Identity, boughtAt date: TimeInterval, _ count: Int
    ) async throws -> Customer {
        let proof = AppProof(
            kind: .appTransaction, signedDate: Sample.now, id: id.map { .appTransaction($0) }, originalPlatform: .iOS,
            originalAppVersion: "37", originalPurchaseDate: Date(timeIntervalSince1970: date))
        return try await update([identity], in: Sample.production, at: Sample.now) {
            var update = CustomerUpdate(of: $0)
            let purchases = (0..<count).map { Sample.purchase("\(identity.value) \($0)") }
            update.add([Sample.artifact(identity.value)], proving: [proof], purchases: purchases)
            return (update, ())
        }.0
    }

    /// - Parameter size: the size of the update. Large updates are written in pieces.
    fileprivate func change(naming identities: [Identity], size: Int) async throws -> Customer {
        try await update(identities, in: Sample.production, at: Sample.now, adding: size) {
            (CustomerUpdate(of: $0), ())
        }.0
    }
}
