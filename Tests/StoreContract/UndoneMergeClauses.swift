import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let undoneMerges: [StoreClause] = [
        StoreClause("undoing a merge restores both customers, with what each customer got meanwhile") { store in
            let policy = try await store.record(policy: [1], sha256: [1])
            let one = try await store.bring("1", purchases: ["a"], promisedUnder: policy)
            let two = try await store.bring("2", purchases: ["b"], promisedUnder: policy)
            let merged = try await store.change(.merge(other: two.publicID), on: one)
            try expect(merged.isNew, "the merge is a change")
            let both = try await store.present(two)
            try expect(both.id == one.id && both.facts.purchases.count == 2, "one customer with all")
            try expect(both.facts.promises.count == 2, "both promises remain")
            try expect(
                try await store.change(.merge(other: two.publicID), on: one).refusal == .alreadyMerged, "merged already"
            )
            // Both accounts buy something more.
            _ = try await store.bring("2", purchases: ["c"])
            _ = try await store.bring("1", purchases: ["d"])
            try expect(
                try await store.change(.unmerge(other: two.publicID), on: one).isNew, "undoing the merge is a change")
            let (first, second) = (try await store.present(one), try await store.present(two))
            try expect(first.id == one.id && second.id == two.id, "two customers")
            try expect(first.facts.purchases.map(\.transactionID) == ["a", "d"], "\(first.facts.purchases)")
            try expect(second.facts.purchases.map(\.transactionID) == ["b", "c"], "\(second.facts.purchases)")
            try expect(first.facts.promises == one.facts.promises, "the first customer has its promise")
            try expect(second.facts.promises == two.facts.promises, "and the other's")
            try expect(second.facts.proofs == two.facts.proofs, "the second customer has its proof")
        },
        StoreClause("a promise that was made during a merge goes to the customer with its acquisition") { store in
            let policy = try await store.record(policy: [1], sha256: [1])
            let (one, two) = (try await store.bring("1"), try await store.bring("2"))
            _ = try await store.change(.merge(other: two.publicID), on: one)
            // One device syncs, and both acquisitions get a promise.
            _ = try await store.update("1") { update in
                update.promise(Sample.promise(to: "1", policy: policy))
                update.promise(Sample.promise(to: "2", policy: policy))
            }
            _ = try await store.change(.unmerge(other: two.publicID), on: one)
            for (customer, id) in [(one, "1"), (two, "2")] {
                let promises = try await store.present(customer).facts.promises
                try expect(promises.map(\.acquisition.appTransactionID) == [id], "only its own")
            }
            // A customer who is known by a download of the app only.
            let three = try await store.bring(by: [Identity(.downloadID, "9")], purchase: "a")
            _ = try await store.change(.merge(other: three.publicID), on: one)
            let promise = StoredPromise(
                entitlement: "cloud",
                acquisition: AcquisitionKey(appTransactionID: nil, downloadID: "9", originalPurchaseDate: nil),
                policyVersion: policy, until: nil, recordedAt: Sample.now)
            _ = try await store.update("1") { $0.promise(promise) }
            _ = try await store.change(.unmerge(other: three.publicID), on: one)
            try expect(try await store.present(three).facts.promises == [promise], "with its download")
            try expect(try await store.present(one).facts.promises.map(\.entitlement) == ["everything"], "and no more")
        },
        StoreClause("a grant during a merge goes to the customer that support chose") { store in
            let (one, two) = (try await store.bring("1"), try await store.bring("2"))
            _ = try await store.change(.merge(other: two.publicID), on: one)
            _ = try await store.change(.grant(entitlement: "everything", until: nil), on: two)
            try expect(
                try await store.present(one).facts.support.count == 1, "the grant applies to the merged customer")
            _ = try await store.change(.unmerge(other: two.publicID), on: one)
            try expect(try await store.present(one).facts.support.isEmpty, "the first customer has no grant")
            try expect(try await store.present(two).facts.support.count == 1, "the second customer has the grant")
        },
        StoreClause("only support can merge customers again that support separated") { store in
            let one = try await store.bring("1")
            let identity = Identity(.originalTransactionID, "x")
            let two = try await store.update([identity], in: Sample.production, at: Sample.now) {
                (CustomerUpdate(of: $0), ())
            }.0
            _ = try await store.change(.merge(other: two.publicID), on: one)
            _ = try await store.change(.unmerge(other: two.publicID), on: one)
            _ = try await store.update(
                [Identity(.appTransactionID, "1"), identity], in: Sample.production, at: Sample.now
            ) { (CustomerUpdate(of: $0), ()) }
            try expect(try await store.present(two).id == two.id, "signed data doesn't merge them")
            _ = try await store.change(.link(user: "u", .never), on: one)
            try expect(
                try await store.change(.link(user: "u", .never), on: two).refusal == .separated, "nor does a user link")
            try expect(
                try await store.change(.merge(other: two.publicID), on: one).isNew,
                "support can merge the customers again")
            try expect(try await store.present(two).id == one.id, "merged again")
        },
        StoreClause("after support has merged customers again, none of their accounts are separated") { store in
            let (one, two, three) = (
                try await store.bring("1"), try await store.bring("2"), try await store.bring("3")
            )
            for other in [three, two] { _ = try await store.change(.merge(other: other.publicID), on: one) }
            _ = try await store.change(.unmerge(other: two.publicID), on: one)
            try expect(try await store.change(.merge(other: two.publicID), on: one).isNew, "merged again")
            // The second account moves to another user and back to the first two accounts.
            for (customer, user) in [(one, "u"), (two, "v"), (two, "u")] {
                try expect(try await store.change(.link(user: user, .newest), on: customer).isNew, "linked to \(user)")
            }
            try expect(try await store.present(two).id == (try await store.present(three).id), "one customer")
        },
        StoreClause("undoing a second merge keeps the customers of the first merge together") { store in
            let (one, two, three) = (
                try await store.bring("1"), try await store.bring("2"), try await store.bring("3")
            )
            _ = try await store.change(.merge(other: three.publicID), on: two)
            _ = try await store.change(.merge(other: two.publicID), on: one)
            try expect(try await store.present(three).id == one.id, "all are merged")
            _ = try await store.change(.unmerge(other: two.publicID), on: three)
            try expect(try await store.present(three).id == two.id, "two and three stay merged")
            try expect(try await store.present(one).facts == one.facts, "the first customer is as before")
            try expect(
                try await store.change(.unmerge(other: one.publicID), on: one).refusal == .notMerged, "not merged")
        },
        StoreClause("the timeline has the reasons for a merge and for undoing it") { store in
            let (one, two) = (try await store.bring("1"), try await store.bring("2"))
            try await store.listen(Endpoint(name: "all"))
            _ = try await store.change(.merge(other: two.publicID), on: one, reason: "one person")
            _ = try await store.change(.unmerge(other: two.publicID), on: one, reason: "two after all")
            let events = try unwrap(try await store.read { try $0.rows(of: one.id) }, "the rows").events
            try expect(events.map(\.kind) == [.merged, .unmerged], "the timeline has the merge and its undoing")
            try expect(events.map(\.detail["reason"]) == ["one person", "two after all"], "with reasons")
            let others = try unwrap(try await store.read { try $0.rows(of: two.id) }, "the rows").events
            try expect(others.map(\.kind) == [.unmerged], "also in the other's timeline")
            try expect(events.map(\.detail["customer"]) == [two.publicID, two.publicID], "each names the other")
            try expect(others.map(\.detail["customer"]) == [one.publicID], "each names the other")
            try expect((events + others).allSatisfy { $0.detail["because"] == "support" }, "\(events + others)")
            try expect((events + others).allSatisfy { $0.actor == "ada" }, "\(events + others)")
            let lines = try await store.read { try $0.audit(before: nil, of: one.publicID, limit: 9) }
            let details = ["two after all", "one person"].map { ["other": two.publicID, "reason": $0] }
            try expect(lines.map(\.action) == ["unmerge", "merge"] && lines.map(\.detail) == details, "\(lines)")
            let messages = try await store.outbox().map(\.message)
            let data = Array(#"{"because":"support","merged":"\#(two.publicID)"}"#.utf8)
            try expect(messages.map(\.type) == ["customer.merged"], "one message about the merge: \(messages)")
            try expect(messages[0].publicID == one.publicID && messages[0].data == data, "without the reason")
        },
        StoreClause("only a merge into the named customer can be undone") { store in
            let (one, two, three) = (
                try await store.bring("1"), try await store.bring("2"), try await store.bring("3")
            )
            _ = try await store.change(.merge(other: two.publicID), on: one)
            for (other, customer, refusal) in [
                ("cus_missing", one, .noSuchOther), (two.publicID, three, .notMerged),
                (three.publicID, one, .notMerged),
                (one.publicID, two, .notMerged),
            ] as [(String, Customer, ChangeOutcome.Refusal)] {
                let outcome = try await store.change(.unmerge(other: other), on: customer)
                try expect(outcome.refusal == refusal, "\(other) from \(customer.publicID): \(outcome)")
            }
            try expect(try await store.present(two).id == one.id, "still merged")
            try expect(try await store.change(.unmerge(other: two.publicID), on: two).isNew, "by any of its accounts")
        },
        StoreClause("at most a hundred customers are merged into one customer") { store in
            var before = try await store.bring("0")
            for number in 1..<100 {
                let next = try await store.bring(String(number))
                // The longest chain: each customer is merged into the next.
                try expect(try await store.change(.merge(other: before.publicID), on: next).isNew, "merged \(number)")
                before = next
            }
            let first = try await store.bring("0")
            try expect(first.id == before.id && first.facts.proofs.count == 100, "the first is found at the end")
            try expect(try await store.lookUp(first.member)?.id == before.id, "also by a look-up")
            let one = try await store.bring("100")
            try expect(
                try await store.change(.merge(other: before.publicID), on: one).refusal == .tooManyMerged,
                "more are refused")
            _ = try await store.change(.link(user: "u", .never), on: before)
            try expect(
                try await store.change(.link(user: "u", .never), on: one).refusal == .tooManyMerged,
                "also by a user link")
        },
        StoreClause("customers of another environment, unbound customers and the customer itself can't be merged") {
            store in
            let one = try await store.bring("1")
            let sandbox = try await store.update("1", in: Realm(.sandbox)) { _ in }
            let unbound = try await store.update(
                [Identity(.unbound, "app 1 1 hash")], in: Sample.production, at: Sample.now
            ) { (CustomerUpdate(of: $0), ()) }.0
            try expect(
                try await store.change(.merge(other: sandbox.publicID), on: one).refusal == .otherEnvironment,
                "another environment")
            try expect(
                try await store.change(.merge(other: unbound.publicID), on: one).refusal == .unboundProof,
                "an unbound customer")
            try expect(
                try await store.change(.merge(other: one.publicID), on: one).refusal == .alreadyMerged,
                "the customer itself")
            try expect(
                try await store.change(.link(user: "u", .never), on: unbound).refusal == .unboundProof,
                "an unbound customer can't be linked")
        },
    ]
}
