import Foundation
import TenureCore
import TenureStore

/// The promises that a publication ends, and that a rollback restores.
extension StoreClause {
    static let publishedPromises: [StoreClause] = [
        StoreClause("a publication ends promises, and a rollback restores them") { store in
            let promises = [Sample.promise(policy: 1), Sample.promise("cloud", policy: 1)]
            let (start, taken, customer) = try await store.endPromise(among: promises)
            try expect(taken.counts.ended == 1, "one ended")
            try expect(try await store.promises(of: customer.id) == [promises[1]], "the other one remains")
            let known = try unwrap(try await store.lookUp(customer.id), "the customer")
            try expect(known.facts.promises == [promises[1]], "also in the stored facts")
            let rows = try unwrap(try await store.read { try $0.rows(of: customer.id) }, "the rows")
            try expect(rows.promises == [promises[1]], "also in the rows")
            try expect(rows.events.map(\.kind) == [.promisesEnded], "with an event")
            let ended = ["publication": "2", "version": "2", "reason": "because", "entitlements": "everything"]
            try expect(rows.events[0].detail == ended && rows.events[0].actor == "command", "\(rows.events)")
            let restorable = try await store.read { try $0.restorablePromises(after: start.id) }
            try expect(restorable == [customer.id: [promises[0]]], "it can be restored")

            let back = try await store.publish([1], after: taken, action: .rollback, restoringAfter: start.id)
            try expect(back.counts.restored == 1, "restored")
            let events = try unwrap(try await store.read { try $0.rows(of: customer.id) }, "the rows").events
            let restored = ["publication": "3", "version": "1", "reason": "because", "entitlements": "everything"]
            try expect(events.map(\.kind) == [.promisesEnded, .promisesRestored], "\(events)")
            try expect(events[1].detail == restored, "\(events)")
            let after = try unwrap(try await store.lookUp(customer.id), "the customer")
            try expect(Set(after.facts.promises) == Set(promises), "both apply again")
            try expect(Set(try await store.promises(of: customer.id)) == Set(promises), "also in the promises table")
            try expect(try await store.read { try $0.restorablePromises(after: start.id) }.isEmpty, "nothing is left")
        },
        StoreClause("a publication ends the promises of every account of a merged customer, and of no other customer") {
            store in
            let start = try await store.startFirstPolicy()
            let (one, two, other) = (
                try await store.bring("1"), try await store.bring("2"), try await store.bring("3", promisedUnder: 1)
            )
            _ = try await store.change(.merge(other: two.publicID), on: one)
            let customer = try await store.update("1") { update in
                for id in ["1", "2"] { update.promise(Sample.promise(to: id, policy: 1)) }
                update.promise(
                    StoredPromise(
                        entitlement: "cloud", acquisition: Sample.promise(to: "2", policy: 1).acquisition,
                        policyVersion: 1, until: nil, recordedAt: Sample.now))
            }
            let outcome = try await store.attempt(
                [2], after: start, evaluation: try await store.evaluation(taking: "everything", from: customer),
                allowance: 1, endsPromises: true)
            guard case .published(let taken) = outcome else { throw BrokenClause(description: "\(outcome)") }
            try expect(taken.counts.ended == 2, "\(taken.counts)")
            _ = try await store.change(.unmerge(other: two.publicID), on: one)
            try expect(try await store.promises(of: one.id).isEmpty, "the first account's promise")
            try expect(try await store.promises(of: two.id).map(\.entitlement) == ["cloud"], "and the second's")
            try expect(
                try await store.present(other).facts.promises == other.facts.promises, "the other customer's stays")
            let back = try await store.publish([1], after: taken, action: .rollback, restoringAfter: start.id)
            try expect(back.counts.restored == 2, "\(back.counts)")
            for (account, names) in [(one, ["everything"]), (two, ["cloud", "everything"])] {
                let promises = try await store.present(account).facts.promises
                try expect(promises.map(\.entitlement) == names, "\(promises)")
            }
        },
        StoreClause("the evaluation of a rollback counts no promise that its target ended") { store in
            let (start, taken, customer) = try await store.endPromise()
            _ = try await store.publish([3], after: taken)
            for (target, count) in [(start, 1), (taken, 0)] {
                let subject = try await store.read {
                    try $0.customerToEvaluate(customer.id, restoringAfter: target.id)
                }
                try expect(subject?.restored.count == count, "\(count) after publication \(target.id)")
            }
        },
        StoreClause("a promise that is made again after it ended applies") { store in
            let (_, taken, customer) = try await store.endPromise()
            do {
                // This promise was decided before the publication, and is written after it.
                _ = try await store.update {
                    $0.promise(Sample.promise(policy: 1))
                    $0.policyVersion = taken.version
                }
                throw BrokenClause(description: "an ended promise was written again")
            } catch StoreError.policyChanged {
                try expect(try await store.promises(of: customer.id).isEmpty, "it remains ended")
            }
            _ = try await store.publish([1], after: taken)
            let later = Sample.now.addingTimeInterval(60)
            let repeated = StoredPromise(
                entitlement: "everything", acquisition: Sample.promise(policy: 1).acquisition, policyVersion: 1,
                until: nil, recordedAt: later)
            let known = try await store.update { $0.promise(repeated) }
            try expect(known.facts.promises == [repeated], "in the stored facts")
            try expect(try await store.promises(of: customer.id) == [repeated], "and in the promises table")
        },
        StoreClause("an update that was decided under a former policy is rejected") { store in
            let start = try await store.startFirstPolicy()
            _ = try await store.publish([2], after: start)
            do {
                _ = try await store.update {
                    $0.promise(Sample.promise(policy: 1))
                    $0.policyVersion = 1
                }
                throw BrokenClause(description: "a promise of the former policy was written")
            } catch StoreError.policyChanged {
                try expect(
                    try await store.read { try $0.customers(after: 0, limit: 10) }.isEmpty, "nothing was written")
            }
            let customer = try await store.update {
                $0.promise(Sample.promise(policy: 2))
                $0.policyVersion = 2
            }
            try expect(
                try await store.promises(of: customer.id).count == 1, "an update under the current policy was written")
        },
    ]
}

extension Store {
    /// Makes promises to a customer, and publishes a policy that ends the promise of `everything`.
    fileprivate func endPromise(
        among promises: [StoredPromise] = [Sample.promise(policy: 1)]
    ) async throws -> (start: StoredPublication, taken: StoredPublication, customer: Customer) {
        let start = try await startFirstPolicy()
        let customer = try await update { $0.promise(promises) }
        let outcome = try await attempt(
            [2], after: start, evaluation: try await evaluation(taking: "everything", from: customer), allowance: 1,
            endsPromises: true)
        guard case .published(let taken) = outcome else { throw BrokenClause(description: "\(outcome)") }
        return (start, taken, customer)
    }
}
