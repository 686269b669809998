import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    /// What a publication evaluates again, counts and refuses, and what a later policy changes for updates.
    static let evaluations: [StoreClause] = [
        StoreClause("every kind of change since an evaluation makes a publication evaluate the customer again") {
            store in
            let policy = try await store.record(policy: [1], sha256: [1])
            let customer = try await store.bring("1")
            _ = try await store.bring("2")
            let changes: [(String, () async throws -> Void)] = [
                ("an artifact", { _ = try await store.bring("1", purchases: ["a"]) }),
                ("a notification", { try await store.notify("1", "n") }),
                ("a promise", { _ = try await store.update("1") { $0.promise(Sample.promise(policy: policy)) } }),
                ("a grant", { _ = try await store.change(.grant(entitlement: "cloud", until: nil), on: customer) }),
                ("an event", { _ = try await store.update("1") { $0.completePurchases() } }),
            ]
            for (name, change) in changes {
                let position = try await store.write { try $0.position() }
                try await change()
                let found = try await store.write { try $0.changes(since: position) }.customers
                try expect(found == [customer.id], "\(name): \(found)")
            }
            let position = try await store.write { try $0.position() }
            _ = try await store.update("1") {
                $0.addUse(of: DeviceUse(device: "d", getsEntitlementToken: true, limit: 9))
            }
            try expect(
                try await store.write { try $0.changes(since: position) }.customers.isEmpty, "a device changes no fact")
            let new = try await store.bring("3")
            try expect(
                try await store.write { try $0.changes(since: position) }.customers == [new.id], "a new customer")
        },
        StoreClause("an evaluation includes customers of a test authority for production") { store in
            let one = try await store.update("1") { _ in }
            let test = try await store.update("1", in: Realm(.production, isTest: true)) { _ in }
            for realm in [Realm(.sandbox), Realm(.sandbox, isTest: true), Realm(.xcode)] {
                let other = try await store.update("1", in: realm) { _ in }
                try expect(
                    try await store.read { try $0.customerToEvaluate(other.id, restoringAfter: nil) } == nil,
                    "not in \(realm)")
            }
            let all = try await store.read { try $0.customersToEvaluate(after: 0, limit: 9) }
            try expect(all.map(\.customer.id) == [one.id, test.id], "\(all)")
            try expect(
                try await store.read { try $0.customerToEvaluate(test.id, restoringAfter: nil) } == all[1], "the same")
        },
        StoreClause("a publication isn't written if too many customers have promises to mark") { store in
            let start = try await store.startFirstPolicy()
            var ids: [Int64] = []
            for id in ["1", "2", "3"] {
                ids.append(try await store.update(id) { $0.promise(Sample.promise(policy: 1)) }.id)
            }
            var evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
            for id in ids { evaluation.setImpact(PublicationImpact(loses: true, ending: ["everything"]), of: id) }
            let request = RequestedPublication(
                compiled: [2], sha256: [2], action: .publish, at: Sample.now, actor: "ada", reason: nil,
                base: start.id, lossAllowance: 3, endsPromises: true)
            let unmarked = evaluation
            func outcome(limit: Int) async throws -> PublicationOutcome {
                try await store.publish(request, after: unmarked, limit: limit) { _ in PublicationImpact() }
            }
            try expect(try await outcome(limit: 2) == .behind, "too many")
            guard case .published(let publication) = try await outcome(limit: 3) else {
                throw BrokenClause(description: "three are few enough")
            }
            try await store.finishPublication(at: Sample.now)
            try expect(publication.counts.ended == 3, "\(publication.counts)")
        },
        StoreClause("the audit trail and a webhook have the counts and versions of a publication") { store in
            try await store.listen(Endpoint(name: "all"))
            let start = try await store.startFirstPolicy()
            var evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
            for id: Int64 in 901...903 { evaluation.setImpact(PublicationImpact(gains: true), of: id) }
            for id: Int64 in 904...905 { evaluation.setImpact(PublicationImpact(loses: true), of: id) }
            let outcome = try await store.attempt([2], after: start, evaluation: evaluation, allowance: 2)
            guard case .published(let publication) = outcome else { throw BrokenClause(description: "\(outcome)") }
            try expect(
                publication.counts.gaining == 3 && publication.counts.losing == 2, "\(publication.counts)")
            let stored = try await store.read { try $0.publications() }
            try expect(stored == [start, publication], "\(stored)")
            let line = try unwrap(
                try await store.read { try $0.audit(before: nil, of: nil, limit: 1) }.first, "the audit line")
            try expect(line.action == "publish" && line.actor == "command" && line.customer == nil, "\(line)")
            try expect(
                line.detail == [
                    "publication": "2", "version": "2", "former": "1", "customers": "0", "gaining": "3",
                    "losing": "2", "ended": "0", "restored": "0", "author": "ada", "reason": "because",
                ], "\(line.detail)")
            let message = try unwrap(try await store.outbox().first?.message, "the message")
            let data = #"{"action":"publish","former":"1","sha256":"02","version":"2"}"#
            try expect(message.type == "policy.published" && message.data == Array(data.utf8), "\(message)")
            try expect(
                message.publicID == nil && message.realm == nil && message.userIDs.isEmpty, "about no customer")
        },
        StoreClause("a publication that ended promises, and a rollback, are listed with these counts") { store in
            let start = try await store.startFirstPolicy()
            let customer = try await store.update { $0.promise(Sample.promise(policy: 1)) }
            let outcome = try await store.attempt(
                [2], after: start, evaluation: try await store.evaluation(taking: "everything", from: customer),
                allowance: 1, endsPromises: true)
            guard case .published(let taken) = outcome else { throw BrokenClause(description: "\(outcome)") }
            let back = try await store.publish([1], after: taken, action: .rollback, restoringAfter: start.id)
            try expect(taken.counts.ended == 1 && taken.counts.restored == 0, "\(taken.counts)")
            try expect(back.counts.ended == 0 && back.counts.restored == 1, "\(back.counts)")
            let stored = try await store.read { try $0.publications() }
            try expect(stored == [start, taken, back], "\(stored)")
        },
        StoreClause("a publication has the author, the reason and the rehearsal of its request, or none of them") {
            store in
            let start = try await store.startFirstPolicy()
            var former = start
            for (policy, author, reason, rehearsal) in [(2, "ada", nil, "reh_x"), (3, nil, "because", nil)]
                as [(UInt8, String?, String?, String?)]
            {
                let date = Sample.after(Double(policy))
                let request = RequestedPublication(
                    compiled: [policy], sha256: [policy], action: .publish, at: date, actor: "key", author: author,
                    reason: reason, rehearsal: rehearsal, base: former.id)
                let evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
                let outcome = try await store.publish(request, after: evaluation) { _ in PublicationImpact() }
                guard case .published(let publication) = outcome else { throw BrokenClause(description: "\(outcome)") }
                let line = try unwrap(
                    try await store.read { try $0.audit(before: nil, of: nil, limit: 1) }.first, "the audit line")
                let fields = ["author", "reason", "rehearsal"].map { line.detail[$0] }
                try expect(fields == [author, reason, rehearsal], "\(line)")
                try expect(line.at == date && line.actor == "key", "\(line)")
                former = publication
            }
            let stored = try await store.read { try $0.publications() }
            try expect(stored.map(\.author) == [nil, "ada", nil], "\(stored)")
            try expect(stored.map(\.reason) == [nil, nil, "because"], "\(stored)")
            try expect(stored.map(\.rehearsal) == [nil, "reh_x", nil], "\(stored)")
            try expect(stored.map(\.at) == [Sample.now, Sample.after(2), Sample.after(3)], "\(stored)")
            try expect(stored.map(\.actor) == ["service", "key", "key"], "\(stored)")
        },
        StoreClause("an update under a former policy is rejected only if it changes what webhooks report") { store in
            try await store.listen(Endpoint(name: "all"))
            let start = try await store.startFirstPolicy()
            _ = try await store.publish([2], after: start)
            let sent = SentEntitlements(rights: ["everything": .init(until: nil)])
            func update(under version: Int64, _ sent: SentEntitlements?) async throws -> Customer {
                try await store.update {
                    $0.policyVersion = version
                    if let sent { $0.entitlementChange = .reported([], sent, nextComparison: nil) }
                }
            }
            do {
                _ = try await update(under: 1, sent)
                throw BrokenClause(description: "a report under the former policy was stored")
            } catch StoreError.policyChanged {
                try expect(
                    try await store.read { try $0.customers(after: 0, limit: 9) }.isEmpty, "no customer was created")
            }
            let customer = try await update(under: 2, sent)
            try expect(customer.sentEntitlements == sent, "the report of the current policy is stored")
            try expect(try await update(under: 1, sent).id == customer.id, "the same report changes nothing")
            try expect(try await update(under: 1, nil).id == customer.id, "nor does an update without a report")
        },
        StoreClause("the artifacts of an interrupted large update stay for a day, and are removed afterward") { store in
            func artifacts() async throws -> Int64? {
                try await store.read { try $0.session.row("SELECT count(*) FROM artifacts")?.integer(0) }
            }
            let counted = store.counted
            counted.counts.reset()
            _ = try await counted.show(0..<300, by: "whole")
            let pieces = counted.counts.writes.count
            // The last piece makes the artifacts count.
            counted.counts.reset { if $0 == pieces { throw BrokenClause(description: "broken off") } }
            do {
                _ = try await counted.show(1000..<1300, by: "broken")
                throw BrokenClause(description: "the last piece wasn't needed")
            } catch is StoreError {}
            counted.counts.reset()
            let all = try await artifacts()
            try expect((all ?? 0) > 300, "some artifacts were written: \(String(describing: all))")
            try await store.removeLeftovers(at: Sample.after(86_400))
            try expect(try await artifacts() == all, "they stay for a day")
            try await store.removeLeftovers(at: Sample.after(86_400.001))
            try expect(try await artifacts() == 300, "and no longer")
        },
    ]
}
