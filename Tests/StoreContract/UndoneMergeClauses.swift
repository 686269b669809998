import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let undoneMerges: [StoreClause] = [
        StoreClause("undoing a merge restores both, with what each brought meanwhile") { store in
            let policy = try unwrap(
                try await store.record(policy: [1], sha256: [1], at: Sample.now).first?.version, "a version")
            let one = try await store.bring("1", purchases: ["a"], promisedUnder: policy)
            let two = try await store.bring("2", purchases: ["b"], promisedUnder: policy)
            let merged = try await store.act(.merge(other: two.publicID), on: one)
            try expect(merged.isNew, "merged")
            let both = try await store.present(two)
            try expect(both.id == one.id && both.facts.purchases.count == 2, "one customer with all")
            try expect(both.facts.promises.count == 2, "nobody loses a promise")
            try expect(try await store.act(.merge(other: two.publicID), on: one).refusal == .alreadyMerged, "once")
            // Each of them goes on.
            _ = try await store.bring("2", purchases: ["c"])
            _ = try await store.bring("1", purchases: ["d"])
            try expect(try await store.act(.unmerge(other: two.publicID), on: one).isNew, "parted")
            let (first, second) = (try await store.present(one), try await store.present(two))
            try expect(first.id == one.id && second.id == two.id, "two customers")
            try expect(first.facts.purchases.map(\.transactionID) == ["a", "d"], "\(first.facts.purchases)")
            try expect(second.facts.purchases.map(\.transactionID) == ["b", "c"], "\(second.facts.purchases)")
            try expect(first.facts.promises == one.facts.promises, "its promise")
            try expect(second.facts.promises == two.facts.promises, "and the other's")
            try expect(second.facts.proofs == two.facts.proofs, "and its proof")
        },
        StoreClause("what was promised under a merge goes to whose acquisition it was") { store in
            let policy = try unwrap(
                try await store.record(policy: [1], sha256: [1], at: Sample.now).first?.version, "a version")
            let (one, two) = (try await store.bring("1"), try await store.bring("2"))
            _ = try await store.act(.merge(other: two.publicID), on: one)
            // One device syncs; both acquisitions are promised something.
            _ = try await store.amend("1") { amendment in
                amendment.promise(Sample.promise(to: "1", policy: policy))
                amendment.promise(Sample.promise(to: "2", policy: policy))
            }
            _ = try await store.act(.unmerge(other: two.publicID), on: one)
            for (customer, id) in [(one, "1"), (two, "2")] {
                let promises = try await store.present(customer).facts.promises
                try expect(promises.map(\.acquisition.appTransactionID) == [id], "only its own")
            }
        },
        StoreClause("a grant stays with whom it was given to") { store in
            let (one, two) = (try await store.bring("1"), try await store.bring("2"))
            _ = try await store.act(.merge(other: two.publicID), on: one)
            _ = try await store.act(.grant(entitlement: "everything", until: nil), on: two)
            try expect(try await store.present(one).facts.support.count == 1, "it counts for both")
            _ = try await store.act(.unmerge(other: two.publicID), on: one)
            try expect(try await store.present(one).facts.support.isEmpty, "not the first's")
            try expect(try await store.present(two).facts.support.count == 1, "the second's")
        },
        StoreClause("who were parted by hand are joined by nothing but a hand") { store in
            let one = try await store.bring("1")
            let identity = Identity(.originalTransactionID, "x")
            let two = try await store.amend([identity], in: Sample.production, at: Sample.now) {
                (Amendment(of: $0), ())
            }.0
            _ = try await store.act(.merge(other: two.publicID), on: one)
            _ = try await store.act(.unmerge(other: two.publicID), on: one)
            _ = try await store.amend(
                [Identity(.appTransactionID, "1"), identity], in: Sample.production, at: Sample.now
            ) { (Amendment(of: $0), ()) }
            try expect(try await store.present(two).id == two.id, "not by what is signed")
            _ = try await store.act(.link(user: "u", .never), on: one)
            try expect(try await store.act(.link(user: "u", .never), on: two).refusal == .separated, "nor by a user")
            try expect(try await store.act(.merge(other: two.publicID), on: one).isNew, "but by a person")
            try expect(try await store.present(two).id == one.id, "one again")
        },
        StoreClause("a merge of merges parts where it was joined") { store in
            let (one, two, three) = (
                try await store.bring("1"), try await store.bring("2"), try await store.bring("3")
            )
            _ = try await store.act(.merge(other: three.publicID), on: two)
            _ = try await store.act(.merge(other: two.publicID), on: one)
            try expect(try await store.present(three).id == one.id, "all are one")
            _ = try await store.act(.unmerge(other: two.publicID), on: three)
            try expect(try await store.present(three).id == two.id, "two and three stay one")
            try expect(try await store.present(one).facts == one.facts, "one is as before")
            try expect(try await store.act(.unmerge(other: one.publicID), on: one).refusal == .notMerged, "not merged")
        },
        StoreClause("the timeline says why people were merged and parted") { store in
            let (one, two) = (try await store.bring("1"), try await store.bring("2"))
            _ = try await store.act(.merge(other: two.publicID), on: one, reason: "one person")
            _ = try await store.act(.unmerge(other: two.publicID), on: one, reason: "two after all")
            let events = try unwrap(try await store.ledger(of: one.id), "the ledger").events
            try expect(events.map(\.kind) == [.merged, .unmerged], "both")
            try expect(events.map(\.detail["reason"]) == ["one person", "two after all"], "with reasons")
            let others = try unwrap(try await store.ledger(of: two.id), "the ledger").events
            try expect(others.map(\.kind) == [.unmerged], "also the other's")
        },
        StoreClause("no customer is made of more than a hundred") { store in
            var before = try await store.bring("0")
            for number in 1..<100 {
                let next = try await store.bring(String(number))
                // The longest chain: each into the next.
                try expect(try await store.act(.merge(other: before.publicID), on: next).isNew, "merged \(number)")
                before = next
            }
            let first = try await store.bring("0")
            try expect(first.id == before.id && first.facts.proofs.count == 100, "the first is found at the end")
            try expect(try await store.customer(first.member)?.id == before.id, "also by a look-up")
            let one = try await store.bring("100")
            try expect(
                try await store.act(.merge(other: before.publicID), on: one).refusal == .tooManyMembers, "enough")
            _ = try await store.act(.link(user: "u", .never), on: before)
            try expect(try await store.act(.link(user: "u", .never), on: one).refusal == .tooManyMembers, "also here")
        },
        StoreClause("realms, visitors and oneself are not merged") { store in
            let one = try await store.bring("1")
            let sandbox = try await store.amend("1", in: Realm(.sandbox)) { _ in }
            let visitor = try await store.amend(
                [Identity(.visit, "app 1 1 hash")], in: Sample.production, at: Sample.now
            ) { (Amendment(of: $0), ()) }.0
            try expect(try await store.act(.merge(other: sandbox.publicID), on: one).refusal == .otherRealm, "realm")
            try expect(try await store.act(.merge(other: visitor.publicID), on: one).refusal == .unboundProof, "visit")
            try expect(try await store.act(.merge(other: one.publicID), on: one).refusal == .alreadyMerged, "oneself")
            try expect(try await store.act(.link(user: "u", .never), on: visitor).refusal == .unboundProof, "no link")
        },
    ]
}
