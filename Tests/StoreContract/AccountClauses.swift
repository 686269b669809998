import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let accounts: [StoreClause] = [
        StoreClause("with transfer newest, accounts that signed data merged move to the new user together") { store in
            for isNamedFirst in [true, false] {
                let (id, user) = (isNamedFirst ? "1" : "2", isNamedFirst ? "u" : "w")
                // The customer's first purchase was signed without an account (`appTransactionId`).
                let early = try await store.bring(by: [Identity(.originalTransactionID, "x\(id)")], purchase: "x\(id)")
                let account = try await store.bring(id)
                let joined = [Identity(.appTransactionID, id), Identity(.originalTransactionID, "x\(id)")]
                _ = try await store.update(joined, in: Sample.production, at: Sample.now) {
                    (CustomerUpdate(of: $0), ())
                }
                try expect(
                    try await store.present(account).id == (try await store.present(early).id),
                    "the account and the earlier purchase are one customer")
                let other = try await store.bring("other \(id)")
                _ = try await store.change(.link(user: user, .newest), on: other)
                _ = try await store.change(.link(user: user, .newest), on: early)

                let named = isNamedFirst ? account : early
                try expect(
                    try await store.change(.link(user: "v", .newest), on: named).isNew,
                    "the link to the new user is a change")
                let moved = try await store.present(named)
                try expect(moved.facts.purchases.map(\.transactionID) == ["x\(id)"], "with its purchase")
                try expect(moved.facts.proofs == account.facts.proofs, "and its proof of the app")
                try expect(
                    try await store.present(other).facts == other.facts, "the other customer keeps only its own facts")
                try expect(
                    try await store.read { try $0.customers(withAnyID: user, in: [Sample.production]) }.map(\.publicID)
                        == [other.publicID], "with its user")
                _ = try await store.change(.unlink(user: "v"), on: named)
            }
        },
        StoreClause("with transfer newest, customers merged by a user link are separated when that link ends") {
            store in
            let all = [try await store.bring("1"), try await store.bring("2"), try await store.bring("3")]
            for customer in all { _ = try await store.change(.link(user: "u", .newest), on: customer) }
            // The moved customer's events have the reason for the merge of the other two
            // customers.
            _ = try await store.change(.link(user: "v", .newest), on: all[0])
            try expect(
                try await store.present(all[1]).id == (try await store.present(all[2]).id), "the other two stay merged")
            _ = try await store.change(.unlink(user: "u"), on: all[1])
            for customer in all { try expect(try await store.present(customer).facts == customer.facts, "alone") }
        },
        StoreClause("a merged customer's purchases are complete if the purchases of every account are complete") {
            store in
            let one = try await store.complete("1")
            let two = try await store.bring("2", purchases: ["b"])
            try expect(one.facts.purchasesAreComplete && !two.facts.purchasesAreComplete, "complete for one account")
            for customer in [one, two] { _ = try await store.change(.link(user: "u", .never), on: customer) }
            try expect(try await !store.present(one).facts.purchasesAreComplete, "not complete for both")
            try expect(try await !store.complete("1").facts.purchasesAreComplete, "not by the first account alone")
            try expect(
                try await store.complete("2").facts.purchasesAreComplete,
                "purchases are complete once both accounts' purchases are")
            let three = try await store.bring("3")
            _ = try await store.change(.merge(other: three.publicID), on: one)
            try expect(try await !store.present(one).facts.purchasesAreComplete, "not with a third account")
            _ = try await store.change(.unmerge(other: three.publicID), on: one)
            try expect(try await store.present(one).facts.purchasesAreComplete, "complete again without the third")
            let events = try unwrap(try await store.read { try $0.rows(of: one.id) }, "the rows").events
            try expect(events.filter { $0.kind == .purchasesComplete }.count == 2, "one event for each account")
        },
        StoreClause("a purchase that signed data connects with an account leaves the account's purchases complete") {
            store in
            let early = try await store.bring(by: [Identity(.originalTransactionID, "x")], purchase: "x")
            let joined = [Identity(.appTransactionID, "1"), Identity(.originalTransactionID, "x")]
            let account = try await store.complete("1")
            let both = try await store.update(joined, in: Sample.production, at: Sample.now) {
                (CustomerUpdate(of: $0), ())
            }
            .0
            try expect(
                both.id == account.id && both.facts.purchases == early.facts.purchases,
                "one customer with the earlier purchase")
            try expect(both.facts.purchasesAreComplete, "and its purchases are complete")
        },
        StoreClause(
            "a purchase that signed data connects with an account doesn't make the account's purchases complete"
        ) {
            store in
            let early = try await store.bring(by: [Identity(.originalTransactionID, "x")], purchase: "x")
            let account = try await store.bring("1")
            let named = [Identity(.appTransactionID, "1"), Identity(.originalTransactionID, "x")]
            let both = try await store.update(named, in: Sample.production, at: Sample.now) {
                (CustomerUpdate(of: $0), ())
            }
            .0
            try expect(both.id == account.id && both.facts.purchases == early.facts.purchases, "one customer")
            try expect(!both.facts.purchasesAreComplete, "some purchases may be missing")
            try expect(try await store.complete("1").facts.purchasesAreComplete, "until they are known")
        },
        StoreClause("two accounts stay separate if signed data names both, even without an app transaction") { store in
            let one = try await store.bring(by: [Identity(.appTransactionID, "1")], purchase: "a")
            let other = try await store.bring(
                by: [Identity(.appTransactionID, "2"), Identity(.originalTransactionID, "x")], purchase: "x")
            let named = [Identity(.appTransactionID, "1"), Identity(.originalTransactionID, "x")]
            _ = try await store.update(named, in: Sample.production, at: Sample.now) { (CustomerUpdate(of: $0), ()) }
            for customer in [one, other] {
                try expect(try await store.present(customer).facts == customer.facts, "each has its own purchase")
            }
        },
        StoreClause("signed data that names one of two merged purchases makes only that purchase's account complete") {
            store in
            let account = try await store.complete("1")
            let one = try await store.bring(by: [Identity(.originalTransactionID, "x")], purchase: "x")
            let other = try await store.bring(by: [Identity(.originalTransactionID, "y")], purchase: "y")
            _ = try await store.update([Identity(.originalTransactionID, "x")], in: Sample.production, at: Sample.now) {
                var update = CustomerUpdate(of: $0)
                update.completePurchases()
                return (update, ())
            }
            _ = try await store.change(.merge(other: one.publicID), on: other)
            let named = [Identity(.appTransactionID, "1"), Identity(.originalTransactionID, "x")]
            _ = try await store.update(named, in: Sample.production, at: Sample.now) { (CustomerUpdate(of: $0), ()) }
            let merged = try await store.present(account)
            try expect(merged.facts.purchases.map(\.transactionID).sorted() == ["x", "y"], "one customer")
            try expect(!merged.facts.purchasesAreComplete, "the account with the purchase y may have more purchases")
        },
        StoreClause("signed data merges at most a hundred customers") { store in
            let first = try await store.bring(by: [Identity(.downloadID, "0")], purchase: "0")
            for number in 1..<100 {
                let next = try await store.bring(by: [Identity(.downloadID, "\(number)")], purchase: "\(number)")
                _ = try await store.change(.merge(other: next.publicID), on: first)
            }
            let account = try await store.bring("1")
            let named = [Identity(.appTransactionID, "1"), Identity(.downloadID, "0")]
            _ = try await store.update(named, in: Sample.production, at: Sample.now) { (CustomerUpdate(of: $0), ()) }
            try expect(try await store.present(account).id == account.id, "the account stays a separate customer")
            try expect(
                try await store.read { try $0.members(of: .rowID(first.id)) }.count == 100, "and they stay merged")
        },
        StoreClause("undoing a merge returns any number of artifacts, and an artifact that arrives meanwhile") {
            store in
            let one = try await store.bring("1")
            let two = try await store.bring("2")
            _ = try await store.change(.merge(other: two.publicID), on: one)
            let purchases = (0..<Rederivation.pageSize * 2 + 1).map { "p\($0)" }
            _ = try await store.bring("2", purchases: purchases)
            var rederivation = Sample.rederivation
            for member in try await store.read({ try $0.members(of: .publicID(one.publicID)) }) {
                var proven = Rederivation.ProvenFacts()
                let entries = try unwrap(
                    try await store.read { try $0.signedEntries(of: member, after: .init(), limit: 100) }, "the entries"
                )
                proven.add([try rederivation.prove(entries)], upTo: entries.end)
                rederivation.provenFacts[member] = proven
            }
            _ = try await store.bring("2", purchases: ["late"])
            _ = try await store.perform(
                RequestedChange(.unmerge(other: two.publicID), actor: "ada", at: Sample.now),
                on: .publicID(one.publicID), using: rederivation)
            let parted = try await store.present(two)
            try expect(
                parted.facts.purchases.count == purchases.count + 1, "all purchases: \(parted.facts.purchases.count)")
            try expect(try await store.present(one).facts == one.facts, "and the other customer has none of them")
        },
    ]

    static let unboundCustomers: [StoreClause] = [
        StoreClause("an unbound customer belongs to every account that has the purchase, until the account is erased") {
            store in
            let purchase = Identity(.originalTransactionID, "x")
            var accounts: [Customer] = []
            for id in ["1", "2", "3", "4"] {
                let named = [Identity(.appTransactionID, id), purchase]
                let (customer, _) = try await store.update(named, in: Sample.production, at: Sample.now) { known in
                    var update = CustomerUpdate(of: known)
                    update.add([Sample.artifact("proof-\(id)")], proving: [Sample.proof(id)])
                    update.add([], purchases: [Sample.purchase("x", signed: 1, revoked: id == "4")])
                    update.add([], purchases: [Sample.purchase("other-\(id)")])
                    update.add([], renewals: ["x", "other-\(id)"].map { Sample.renewal($0) })
                    return (update, ())
                }
                accounts.append(customer)
            }
            func named() async throws -> [Customer] {
                let unbound = try await store.recordUnbound(
                    Identity(unboundLedBy: .transactions, naming: purchase, digest: "list"), naming: [purchase],
                    in: Sample.production, at: Sample.now, Sample.shown("x"))
                let shown = try unwrap(unbound, "an unbound customer")
                return shown.customers
            }
            let all = try await named()
            try expect(all.map(\.id) == accounts.map(\.id), "all of them: \(all.map(\.id))")
            try expect(all.map { $0.facts.proofs.count } == [1, 0, 0, 0], "only the purchase of the others")
            try expect(
                all.dropFirst().allSatisfy { $0.facts.purchases.map(\.transactionID) == ["x"] },
                "nothing that the others bought besides")
            try expect(
                all.dropFirst().allSatisfy { $0.facts.renewals == [Sample.renewal("x")] }, "nor its renewal info")
            try expect(all[3].facts.purchases.first?.revocationDate != nil, "with its refund")
            try expect(
                try await store.read { try $0.customers(withAnyID: "x", in: [Sample.production]) }.map(\.id)
                    == accounts.map(\.id), "support finds them too")
            _ = try await store.change(.merge(other: accounts[2].publicID), on: accounts[0])
            try expect(try await named().map(\.id) == [0, 1, 3].map { accounts[$0].id }, "one customer, once")
            _ = try await store.change(.erase, on: accounts[3])
            try expect(try await named().map(\.id) == [0, 1].map { accounts[$0].id }, "not the erased one")
            let row = try await store.read { [id = accounts[3].id] in
                try $0.session.row("SELECT 1 FROM identities WHERE customer = $1", [.integer(id)])
            }
            try expect(row == nil, "no identity of it is left")
        },
        StoreClause("an unbound customer belongs to every customer who has the purchase, even to different users") {
            store in
            let named = [Identity(.appTransactionID, "1"), Identity(.originalTransactionID, "x")]
            let account = try await store.bring("1")
            let early = try await store.bring(by: [named[1]], purchase: "x")
            for (customer, user) in [(account, "u"), (early, "v")] {
                _ = try await store.change(.link(user: user, .never), on: customer)
            }
            _ = try await store.update(named, in: Sample.production, at: Sample.now) { known in
                var update = CustomerUpdate(of: known)
                update.add([], purchases: [Sample.purchase("x", signed: 1, revoked: true)])
                return (update, ())
            }
            let unbound = try await store.recordUnbound(
                Identity(unboundLedBy: .transactions, naming: named[1], digest: "list"), naming: [named[1]],
                in: Sample.production, at: Sample.now, Sample.shown("x"))
            let customers = try unwrap(unbound, "an unbound customer").customers
            try expect(customers.map(\.id).sorted() == [account.id, early.id].sorted(), "both: \(customers.map(\.id))")
        },
        StoreClause("only the latest twenty unbound customers of one identity are kept") { store in
            let owner = try await store.bring("1")
            func unbound(_ named: Identity, _ list: Int) async throws -> Customer {
                let identity = Identity(unboundLedBy: .transactions, naming: named, digest: "list\(list)")
                let unbound = try await store.recordUnbound(
                    identity, naming: [named], in: Sample.production, at: Sample.now, Sample.shown("\(list)"))
                let shown = try unwrap(unbound, "an unbound customer")
                return shown.unbound
            }
            _ = try await store.bring("12")
            let other = try await unbound(Identity(.appTransactionID, "12"), 0)
            _ = try await store.update("1", in: Realm(.sandbox)) { _ in }
            let named = Identity(.appTransactionID, "1")
            let sandbox = try unwrap(
                try await store.recordUnbound(
                    Identity(unboundLedBy: .transactions, naming: named, digest: "list"), naming: [named],
                    in: Realm(.sandbox), at: Sample.now, Sample.shown("0")), "an unbound customer"
            ).unbound
            var unboundCustomers: [Customer] = []
            for list in 0..<30 { unboundCustomers.append(try await unbound(Identity(.appTransactionID, "1"), list)) }
            var kept = 0
            for unbound in unboundCustomers where try await store.lookUp(unbound.id) != nil { kept += 1 }
            try expect(kept == 20, "\(kept) are kept")
            try expect(
                try await store.lookUp(unboundCustomers[29].id) == unboundCustomers[29],
                "the last unbound customer is kept")
            try expect(try await store.lookUp(unboundCustomers[0].id) == nil, "the first unbound customer is removed")
            try expect(try await store.lookUp(other.id) == other, "unbound customers of other identities stay")
            try expect(try await store.lookUp(sandbox.id) == sandbox, "so do those of other environments")
            try expect(
                try await unbound(Identity(.appTransactionID, "1"), 29).id == unboundCustomers[29].id, "found again")
            var seen = 0
            var next: Int64? = 0
            while let after = next {
                let page = try unwrap(
                    try await store.read { try $0.details(of: .rowID(owner.id), with: .unbound, unboundAfter: after) },
                    "the next page of unbound customers")
                seen += page.unbound.count
                next = page.nextUnbound
            }
            try expect(seen == 20, "all in pages: \(seen)")
            let only = try await store.read { try $0.details(of: .rowID(owner.id), with: .unbound) }
            try expect(only?.unbound.count == 20 && only?.nextUnbound == nil, "a full page may be the last one")
        },
    ]
}

extension Sample {
    fileprivate static func renewal(_ id: String) -> Renewal {
        Renewal(
            originalTransactionID: id, productID: "com.example.calculator.everything", gracePeriodExpiresDate: now,
            isInBillingRetryPeriod: true, signedDate: now)
    }
}

extension Store {
    fileprivate func complete(_ id: String) async throws -> Customer {
        try await update(id) { $0.completePurchases() }
    }

    func bring(by identities: [Identity], purchase: String) async throws -> Customer {
        try await update(identities, in: Sample.production, at: Sample.now) { known in
            var update = CustomerUpdate(of: known)
            update.add(
                [Sample.artifact("purchase-\(purchase)", .transaction)], purchases: [Sample.purchase(purchase)])
            return (update, ())
        }.0
    }
}
