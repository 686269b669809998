import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let accounts: [StoreClause] = [
        StoreClause("newest: what signed data made one goes to the new user whole") { store in
            for isNamedFirst in [true, false] {
                let (id, user) = (isNamedFirst ? "1" : "2", isNamedFirst ? "u" : "w")
                // First met by a purchase that names no account.
                let early = try await store.bring(by: [Identity(.originalTransactionID, "x\(id)")], purchase: "x\(id)")
                let account = try await store.bring(id)
                let joined = [Identity(.appTransactionID, id), Identity(.originalTransactionID, "x\(id)")]
                _ = try await store.amend(joined, in: Sample.production, at: Sample.now) { (Amendment(of: $0), ()) }
                try expect(try await store.present(account).id == (try await store.present(early).id), "one")
                let other = try await store.bring("other \(id)")
                _ = try await store.act(.link(user: user, .newest), on: other)
                _ = try await store.act(.link(user: user, .newest), on: early)

                let named = isNamedFirst ? account : early
                try expect(try await store.act(.link(user: "v", .newest), on: named).isNew, "moved")
                let moved = try await store.present(named)
                try expect(moved.facts.purchases.map(\.transactionID) == ["x\(id)"], "with what it bought")
                try expect(moved.facts.proofs == account.facts.proofs, "and its proof of the app")
                try expect(try await store.present(other).facts == other.facts, "the rest stays, and nothing else")
                try expect(
                    try await store.customers(withAnyID: user, in: [Sample.production]).map(\.publicID)
                        == [other.publicID], "with its user")
                _ = try await store.act(.unlink(user: "v"), on: named)
            }
        },
        StoreClause("newest: who stays one because of a user parts when that link ends") { store in
            let all = [try await store.bring("1"), try await store.bring("2"), try await store.bring("3")]
            for customer in all { _ = try await store.act(.link(user: "u", .newest), on: customer) }
            // The one goes with whom it was written why the others are one.
            _ = try await store.act(.link(user: "v", .newest), on: all[0])
            try expect(try await store.present(all[1]).id == (try await store.present(all[2]).id), "two are one")
            _ = try await store.act(.unlink(user: "u"), on: all[1])
            for customer in all { try expect(try await store.present(customer).facts == customer.facts, "alone") }
        },
        StoreClause("purchases are known completely when they are of every account") { store in
            let one = try await store.complete("1")
            let two = try await store.bring("2", purchases: ["b"])
            try expect(one.facts.purchasesAreComplete && !two.facts.purchasesAreComplete, "of one")
            for customer in [one, two] { _ = try await store.act(.link(user: "u", .never), on: customer) }
            try expect(try await !store.present(one).facts.purchasesAreComplete, "of both they are not")
            try expect(try await !store.complete("1").facts.purchasesAreComplete, "whatever the one says again")
            try expect(try await store.complete("2").facts.purchasesAreComplete, "until the other says so too")
            let three = try await store.bring("3")
            _ = try await store.act(.merge(other: three.publicID), on: one)
            try expect(try await !store.present(one).facts.purchasesAreComplete, "a third is not known yet")
            _ = try await store.act(.unmerge(other: three.publicID), on: one)
            try expect(try await store.present(one).facts.purchasesAreComplete, "and takes its doubt along")
            let events = try unwrap(try await store.ledger(of: one.id), "the ledger").events
            try expect(events.filter { $0.kind == .purchasesComplete }.count == 2, "each said it once")
        },
        StoreClause("what signed data names together is one account, and complete as one") { store in
            let early = try await store.bring(by: [Identity(.originalTransactionID, "x")], purchase: "x")
            let joined = [Identity(.appTransactionID, "1"), Identity(.originalTransactionID, "x")]
            let account = try await store.complete("1")
            let both = try await store.amend(joined, in: Sample.production, at: Sample.now) { (Amendment(of: $0), ()) }
                .0
            try expect(both.id == account.id && both.facts.purchases == early.facts.purchases, "one")
            try expect(both.facts.purchasesAreComplete, "and all of it was seen")
        },
        StoreClause("signed data joins no more than a hundred") { store in
            let first = try await store.bring(by: [Identity(.downloadID, "0")], purchase: "0")
            for number in 1..<100 {
                let next = try await store.bring(by: [Identity(.downloadID, "\(number)")], purchase: "\(number)")
                _ = try await store.act(.merge(other: next.publicID), on: first)
            }
            let account = try await store.bring("1")
            let named = [Identity(.appTransactionID, "1"), Identity(.downloadID, "0")]
            _ = try await store.amend(named, in: Sample.production, at: Sample.now) { (Amendment(of: $0), ()) }
            try expect(try await store.present(account).id == account.id, "enough")
            try expect(try await store.members(of: .number(first.id)).count == 100, "and they are as before")
        },
        StoreClause("undoing a merge goes through any number of artifacts, and verifies what came in between") {
            store in
            let one = try await store.bring("1")
            let two = try await store.bring("2")
            _ = try await store.act(.merge(other: two.publicID), on: one)
            let purchases = (0..<Rederivation.pageSize * 2 + 1).map { "p\($0)" }
            _ = try await store.bring("2", purchases: purchases)
            var rederivation = Sample.rederivation
            for member in try await store.members(of: .publicID(one.publicID)) {
                var proven = Rederivation.Proven()
                let entries = try unwrap(
                    try await store.signedEntries(of: member, after: proven.end, limit: 100), "the entries")
                proven.add([try rederivation.prove(entries)], upTo: entries.end)
                rederivation.proven[member] = proven
            }
            _ = try await store.bring("2", purchases: ["late"])
            _ = try await store.perform(
                RequestedAct(.unmerge(other: two.publicID), actor: "ada", at: Sample.now),
                on: .publicID(one.publicID), by: rederivation)
            let parted = try await store.present(two)
            try expect(parted.facts.purchases.count == purchases.count + 1, "all: \(parted.facts.purchases.count)")
            try expect(try await store.present(one).facts == one.facts, "and nothing of it is the other's")
        },
    ]

    static let visits: [StoreClause] = [
        StoreClause("of what names one customer so many visits are kept, the latest") { store in
            let owner = try await store.bring("1")
            func visit(_ named: Identity, _ list: Int) async throws -> Customer {
                let identity = Identity(visitLedBy: .transactions, naming: named, showing: "list\(list)")
                let unbound = try await store.recordUnbound(
                    identity, naming: [named], in: Sample.production, at: Sample.now, Sample.shown("\(list)"))
                let shown = try unwrap(unbound, "a record")
                return shown.record
            }
            _ = try await store.bring("12")
            let other = try await visit(Identity(.appTransactionID, "12"), 0)
            var visits: [Customer] = []
            for list in 0..<30 { visits.append(try await visit(Identity(.appTransactionID, "1"), list)) }
            var kept = 0
            for visit in visits where try await store.customer(visit.id) != nil { kept += 1 }
            try expect(kept == 20, "\(kept) are kept")
            try expect(try await store.customer(visits[29].id) == visits[29], "the last of them")
            try expect(try await store.customer(visits[0].id) == nil, "not the first")
            try expect(try await store.customer(other.id) == other, "and those of others")
            try expect(try await visit(Identity(.appTransactionID, "1"), 29).id == visits[29].id, "found again")
            var seen = 0
            var next: Int64? = 0
            while let after = next {
                let page = try unwrap(
                    try await store.dossier(of: .number(owner.id), with: .visits, visitsAfter: after), "a page")
                seen += page.visits.count
                next = page.nextVisit
            }
            try expect(seen == 20, "all in pages: \(seen)")
        }
    ]
}

extension Store {
    fileprivate func complete(_ id: String) async throws -> Customer {
        try await amend(id) { $0.completePurchases() }
    }

    func bring(by identities: [Identity], purchase: String) async throws -> Customer {
        try await amend(identities, in: Sample.production, at: Sample.now) { known in
            var amendment = Amendment(of: known)
            amendment.add(
                [Sample.artifact("purchase-\(purchase)", .transaction)], purchases: [Sample.purchase(purchase)])
            return (amendment, ())
        }.0
    }
}
