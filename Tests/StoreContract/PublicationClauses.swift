import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let publications: [StoreClause] = [
        StoreClause("the first policy decides from the start, and another policy decides after its publication") {
            store in
            try expect(try await store.read { try $0.publication() } == nil, "no publication yet")
            let start = try await store.startFirstPolicy()
            try expect(start.version == 1 && start.action == .start, "the start stores the first version")
            let again = try await store.write(at: Sample.now, locking: [.policies]) {
                try $0.start(with: [2], sha256: [2])
            }
            try expect(again == start, "a second start changes nothing")
            try expect(try await store.read { try $0.policies() }.count == 1, "the other policy isn't a version")
            let published = try await store.publish([2], after: start)
            try expect(published.version == 2 && published.id == 2, "the publication stores the second version")
            try expect(try await store.read { try $0.publication() } == published, "the new publication is in effect")
            let back = try await store.publish([1], after: published, action: .rollback)
            try expect(back.version == 1 && back.id == 3, "a version keeps its number")
            try expect(
                try await store.read { try $0.publications() }.map(\.action) == [.start, .publish, .rollback],
                "all publications are kept")
            let lines = try await store.read { try $0.audit(before: nil, of: nil, limit: 10) }
            try expect(lines.map(\.action) == ["rollback", "publish"], "in the audit trail")
            try expect(
                ["publication", "version", "former"].map { lines[0].detail[$0] } == ["3", "1", "2"], "\(lines[0])")
            // The version in effect is 1, although its publication is the third.
            for version: Int64 in [2, 3] {
                do {
                    _ = try await store.update {
                        $0.promise(Sample.promise(policy: version))
                        $0.policyVersion = version
                    }
                    throw BrokenClause(description: "a promise of version \(version) was written")
                } catch StoreError.policyChanged {}
            }
            let customer = try await store.update {
                $0.promise(Sample.promise(policy: 1))
                $0.policyVersion = 1
            }
            try expect(customer.facts.promises.map(\.policyVersion) == [1], "\(customer.facts.promises)")
            let third = try await store.publish([3], after: back)
            try expect(third.version == 3 && third.id == 4, "\(third)")
            let line = try await store.read { try $0.audit(before: nil, of: nil, limit: 1) }.first
            try expect(
                ["publication", "version", "former"].map { line?.detail[$0] } == ["4", "3", "1"],
                "\(String(describing: line))")
            try expect(
                lines[1].detail["reason"] == "because" && lines[1].detail["author"] == "ada", "with reason and author")
        },
        StoreClause("of two publications based on one earlier publication, the second is refused as overtaken") {
            store in
            let start = try await store.startFirstPolicy()
            _ = try await store.publish([2], after: start)
            let late = try await store.attempt([3], after: start)
            try expect(late == .overtaken, "the later publication is refused as overtaken")
            try expect(try await store.read { try $0.policies() }.count == 2, "nothing was kept of it")
        },
        StoreClause("customers who came or changed since the evaluation are checked in the publication") { store in
            let start = try await store.startFirstPolicy()
            let before = try await store.update("1") { $0.add([Sample.artifact("a")], proving: [Sample.proof("1")]) }
            var evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
            evaluation.setImpact(PublicationImpact(loses: true), of: before.id)
            let new = try await store.update("2") { $0.add([Sample.artifact("b")], proving: [Sample.proof("2")]) }
            let outcome = try await store.attempt([2], after: start, evaluation: evaluation, allowance: 1) {
                subject throws(StoreError) in
                try expectSame(subject.customer.id, new.id)
                return PublicationImpact(loses: true)
            }
            try expect(outcome == .tooManyLosing(2), "the new one counts")
            // Customers who changed since the evaluation may not lose anything more.
            _ = try await store.record(SupportGrant(.grant, of: "everything", date: Sample.now), for: before.id)
            let second = try await store.attempt([2], after: start, evaluation: evaluation, allowance: 1) { subject in
                PublicationImpact(loses: subject.customer.id == new.id)
            }
            guard case .published(let publication) = second else {
                throw BrokenClause(description: "not published: \(second)")
            }
            try expect(publication.counts.losing == 1, "one loses")
        },
        StoreClause("more gains than allowed prevent a publication, and without a limit any number is allowed") {
            store in
            let start = try await store.startFirstPolicy()
            let known = try await store.update("1") { $0.add([Sample.artifact("a")], proving: [Sample.proof("1")]) }
            var evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
            evaluation.setImpact(PublicationImpact(gains: true), of: known.id)
            _ = try await store.update("2") { $0.add([Sample.artifact("b")], proving: [Sample.proof("2")]) }
            let gains: @Sendable (CustomerToEvaluate) throws(StoreError) -> PublicationImpact = { _ in
                PublicationImpact(gains: true)
            }
            let refused = try await store.attempt([2], after: start, evaluation: evaluation, gainAllowance: 1, gains)
            try expect(refused == .tooManyGaining(2), "the new one counts")
            try expect(try await store.read { try $0.publications() }.count == 1, "nothing was published")
            let bounded = try await store.attempt([2], after: start, evaluation: evaluation, gainAllowance: 2, gains)
            guard case .published(let publication) = bounded else {
                throw BrokenClause(description: "not published: \(bounded)")
            }
            try expect(publication.counts.gaining == 2, "two gain")
            try expect(try await store.read { try $0.publication() } == publication, "stored with all numbers")
            evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
            evaluation.setImpact(PublicationImpact(gains: true), of: known.id)
            let unbounded = try await store.attempt([1], after: publication, action: .rollback, evaluation: evaluation)
            guard case .published = unbounded else { throw BrokenClause(description: "not published: \(unbounded)") }
        },
        StoreClause("a customer who was merged or erased since the evaluation isn't counted as losing rights") {
            store in
            let start = try await store.startFirstPolicy()
            let one = try await store.update("1") { $0.add([Sample.artifact("a")]) }
            let other = try await store.update("2") { $0.add([Sample.artifact("b")]) }
            var evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
            for id in [one.id, other.id] { evaluation.setImpact(PublicationImpact(loses: true), of: id) }
            _ = try await store.perform(
                RequestedChange(.merge(other: other.publicID), actor: "ada", at: Sample.now), on: .rowID(one.id),
                using: Sample.rederivation)
            let merged = try await store.attempt([2], after: start, evaluation: evaluation) { _ in
                PublicationImpact(loses: true)
            }
            try expect(merged == .tooManyLosing(1), "the merged customers count once")
            _ = try await store.perform(
                RequestedChange(.erase, actor: "ada", at: Sample.now), on: .rowID(one.id),
                using: Sample.rederivation)
            let erased = try await store.attempt([2], after: start, evaluation: evaluation)
            guard case .published(let publication) = erased else {
                throw BrokenClause(description: "not published: \(erased)")
            }
            try expect(publication.counts.losing == 0 && publication.counts.customers == 0, "no customer is left")
        },
        StoreClause(
            "new and removed unbound customers don't prevent a publication, and every unbound customer is checked"
        ) {
            store in
            let start = try await store.startFirstPolicy()
            let one = try await store.update("1") { $0.add([Sample.artifact("a")]) }
            // The store keeps fewer unbound customers for one customer, so it removes the first unbound customers
            // before the publication.
            for number in 0..<15 { _ = try await store.unbound(number) }
            let evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
            for number in 15..<40 { _ = try await store.unbound(number) }
            let checked = Locked<Set<Int64>>([])
            let outcome = try await store.attempt([2], after: start, evaluation: evaluation) { subject in
                _ = checked.withLock { $0.insert(subject.customer.id) }
                return PublicationImpact()
            }
            guard case .published = outcome else { throw BrokenClause(description: "not published: \(outcome)") }
            let kept = try await store.read { try $0.customersToEvaluate(after: one.id, limit: 100) }.map(\.customer.id)
            try expect(kept.count == 20 && Set(kept).isSubset(of: checked.withLock { $0 }), "each is checked")

            // The last rows belong to unbound customers, so a database might use their numbers again after it removes
            // them.
            let next = PublicationEvaluation(at: try await store.write { try $0.position() })
            for number in 40..<60 { _ = try await store.unbound(number) }
            let late = try await store.update("2") { $0.add([Sample.artifact("b")]) }
            let taken = try await store.attempt(
                [3], after: try unwrap(try await store.read { try $0.publication() }, "the second"), evaluation: next
            ) { subject in PublicationImpact(loses: subject.customer.id == late.id) }
            try expect(taken == .tooManyLosing(1), "a customer who came meanwhile is checked")
        },
        StoreClause("links, transfers and erasures don't prevent a publication, and its counts are exact") { store in
            let start = try await store.startFirstPolicy()
            let one = try await store.bring("1")
            let other = try await store.bring("2")
            var mark = try await store.write { try $0.position() }
            _ = try await store.change(.link(user: "u", .newest), on: one)
            _ = try await store.change(.link(user: "u", .newest), on: one)
            _ = try await store.change(.unlink(user: "unknown"), on: one, reason: "\"refused\": she said")
            _ = try await store.perform(
                RequestedChange(.erase, actor: "ada", at: Sample.now), on: .publicID("cus_x"),
                using: Sample.rederivation)
            let outcome = try await store.attempt([2], after: start, evaluation: PublicationEvaluation(at: mark))
            guard case .published(let publication) = outcome else {
                throw BrokenClause(description: "not published: \(outcome)")
            }
            mark = try await store.write { try $0.position() }
            _ = try await store.change(.link(user: "v", .newest), on: one)
            let checked = Locked<Set<Int64>>([])
            let transferred = try await store.attempt(
                [3], after: publication, evaluation: PublicationEvaluation(at: mark), allowance: 0
            ) { subject in
                _ = checked.withLock { $0.insert(subject.customer.id) }
                return PublicationImpact(loses: true)
            }
            let all = checked.withLock { $0 }
            try expect(
                transferred == .tooManyLosing(all.count), "the customer that has the acquisition now is evaluated")
            try expect(all.contains(one.id), "and the one that had it before: \(all)")
            mark = try await store.write { try $0.position() }
            var evaluation = PublicationEvaluation(at: mark)
            for subject in try await store.read({ try $0.customersToEvaluate(after: 0, limit: 100) }) {
                evaluation.add(subject, PublicationImpact(loses: true))
            }
            let before = evaluation.customers
            _ = try await store.change(.erase, on: other, reason: "a \"refused\": parcel")
            // The erased customers' rows were the last rows. Their numbers must not be used again.
            let new = try await store.bring("3")
            let erased = try await store.attempt([3], after: publication, evaluation: evaluation, allowance: before) {
                subject in
                PublicationImpact(loses: subject.customer.id == new.id)
            }
            guard case .published(let last) = erased else {
                throw BrokenClause(description: "not published: \(erased)")
            }
            try expect(last.counts.customers == before, "one less and one more: \(last.counts)")
            try expect(last.counts.losing == before, "without the erased one, with the new one: \(last.counts)")
        },
        StoreClause("tombstones of erased customers stay for a day") { store in
            let one = try await store.bring("1")
            let position = try await store.write { try $0.position() }
            _ = try await store.change(.erase, on: one)
            for (hours, isKept) in [(23.0, true), (24.0, true), (25.0, false)] {
                try await store.removeOldTombstones(at: Sample.now.addingTimeInterval(hours * 3600))
                let changes = try await store.write { try $0.changes(since: position) }
                try expect(changes.outdatedCustomers.contains(one.id) == isKept, "after \(hours) hours")
            }
        },
        StoreClause("a publication isn't written if too many customers changed since the evaluation") { store in
            let start = try await store.startFirstPolicy()
            var evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
            for number in 0..<3 { _ = try await store.bring("\(number)") }
            let request = RequestedPublication(
                compiled: [2], sha256: [2], action: .publish, at: Sample.now, actor: "ada", reason: nil, base: start.id)
            func outcome(limit: Int) async throws -> PublicationOutcome {
                try await store.publish(request, after: evaluation, limit: limit) { _ in
                    PublicationImpact(loses: true)
                }
            }
            try expect(try await outcome(limit: 2) == .behind, "too many")
            try expect(try await outcome(limit: 3) == .tooManyLosing(3), "few enough")
            let position = evaluation.position
            let changes = try await store.write { try $0.changes(since: position) }
            evaluation.removeImpacts(of: changes)
            for id in changes.customers {
                let found = try await store.read { try $0.customerToEvaluate(id, restoringAfter: nil) }
                evaluation.update(try unwrap(found, "the customer"), PublicationImpact(gains: true))
            }
            try expect(evaluation.customers == 3 && evaluation.impacts.count == 3, "all are evaluated")
            guard case .published(let publication) = try await outcome(limit: 0) else {
                throw BrokenClause(description: "none is left")
            }
            try expect(publication.counts.gaining == 3 && publication.counts.losing == 0, "\(publication.counts)")
        },
        StoreClause("an evaluation has every production customer once, and marks unbound customers") { store in
            let one = try await store.update("1") { $0.add([Sample.artifact("a")]) }
            let shown = Identity(unboundLedBy: .app, naming: Identity(.appTransactionID, "1"), digest: "x")
            let unbound = try await store.update([shown], in: Sample.production, at: Sample.now) {
                (CustomerUpdate(of: $0), ())
            }.0
            _ = try await store.update([Identity(.appTransactionID, "1")], in: Realm(.sandbox), at: Sample.now) {
                (CustomerUpdate(of: $0), ())
            }
            let first = try await store.read { try $0.customersToEvaluate(after: 0, limit: 1) }
            try expect(first.map(\.customer.id) == [one.id] && !first[0].isUnbound, "the customer")
            let rest = try await store.read { try $0.customersToEvaluate(after: one.id, limit: 10) }
            try expect(
                rest.map(\.customer.id) == [unbound.id] && rest[0].isUnbound, "the unbound customer, and no sandbox")
        },
        StoreClause("a rehearsal is stored unchanged") { store in
            let start = try await store.startFirstPolicy()
            let rehearsal = StoredRehearsal(
                base: start.id, sha256: [2], at: Sample.now, actor: "ada", gaining: 5, losing: 12,
                losingWithPromises: 3,
                report: Array(#"{"customers":40}"#.utf8))
            try await store.write { try $0.record(rehearsal) }
            try expect(
                try await store.read { try $0.rehearsal(rehearsal.id) } == rehearsal,
                "the stored rehearsal is unchanged")
            try expect(try await store.read { try $0.rehearsal("reh_x") } == nil, "another ID finds no rehearsal")
        },
        StoreClause("after a publication all customers are compared, only under the new policy") { store in
            let start = try await store.startFirstPolicy()
            try await store.write(at: Sample.now, locking: [.endpoints]) {
                try $0.register([Endpoint(name: "all")], comparisonKey: "a")
            }
            let customer = try await store.update {
                $0.entitlementChange = .reported([], SentEntitlements(), nextComparison: nil)
            }
            while try await store.compareAllCustomers(at: Sample.now, limit: 10, { _ in nil }) {}
            let published = try await store.publish([2], after: start)
            let seen = Locked<Set<Int64>>([])
            let compare: @Sendable (Customer) -> EntitlementChange? = { customer in
                _ = seen.withLock { $0.insert(customer.id) }
                return .reported([], SentEntitlements(), nextComparison: nil)
            }
            try expect(
                try await store.compareAllCustomers(at: Sample.now, limit: 10, under: start.id, compare), "more is left"
            )
            try expect(seen.withLock { $0.isEmpty }, "no customer is compared under the former policy")
            while try await store.compareAllCustomers(at: Sample.now, limit: 10, under: published.id, compare) {}
            try expect(seen.withLock { $0.contains(customer.id) }, "all customers under the new one")
            _ = try await store.record(SupportGrant(.grant, of: "cloud", date: Sample.now), for: customer.id)
            seen.withLock { $0 = [] }
            for (publication, count) in [(start.id, 0), (published.id, 1)] {
                let due = try await store.compareDueCustomers(
                    at: Sample.now, limit: 10, under: publication, compare)
                try expect(due == count, "\(due) due customers under publication \(publication)")
                try expect(seen.withLock { $0.count } == count, "only under the new one, too")
            }
        },
    ]
}

/// For closures inside a transaction, which throw only `StoreError`.
private func expectSame(_ one: Int64, _ other: Int64) throws(StoreError) {
    guard one == other else { throw .failed("checked \(one), not \(other)") }
}

extension Store {
    /// Writes an unbound customer with another list of artifacts of the app transaction `1`.
    fileprivate func unbound(_ number: Int) async throws -> Customer {
        let unbound = Identity(unboundLedBy: .app, naming: Identity(.appTransactionID, "1"), digest: "digest\(number)")
        try await removeUnbound(toMakeRoomFor: unbound, in: Sample.production, at: Sample.now)
        return try await update([unbound], in: Sample.production, at: Sample.now) { known in
            var update = CustomerUpdate(of: known)
            update.add([Sample.artifact("unbound \(number)")])
            return (update, ())
        }.0
    }

    /// Stores the first policy, `[1]`, which is in effect from the start.
    func startFirstPolicy() async throws(StoreError) -> StoredPublication {
        try await write(at: Sample.now, locking: [.policies]) { try $0.start(with: [1], sha256: [1]) }
    }

    /// Publishes a policy with an empty evaluation, or the given one.
    func attempt(
        _ policy: [UInt8], after base: StoredPublication, action: StoredPublication.Action = .publish,
        evaluation: PublicationEvaluation? = nil, allowance: Int = 0, gainAllowance: Int? = nil,
        endsPromises: Bool = false,
        restoringAfter: Int64? = nil,
        _ evaluate: @escaping @Sendable (CustomerToEvaluate) throws(StoreError) -> PublicationImpact = { _ in
            PublicationImpact()
        }
    ) async throws -> PublicationOutcome {
        let request = RequestedPublication(
            compiled: policy, sha256: policy, action: action, at: Sample.now, actor: "command", author: "ada",
            reason: "because", base: base.id, restoringAfter: restoringAfter, lossAllowance: allowance,
            gainAllowance: gainAllowance, endsPromises: endsPromises)
        var known = evaluation
        if known == nil { known = PublicationEvaluation(at: try await write { try $0.position() }) }
        let found = try unwrap(known, "an evaluation")
        let outcome = try await publish(request, after: found, evaluating: evaluate)
        try await finishPublication(at: Sample.now)
        return outcome
    }

    /// Publishes a policy. Throws if it is refused.
    func publish(
        _ policy: [UInt8], after base: StoredPublication, action: StoredPublication.Action = .publish,
        restoringAfter: Int64? = nil
    ) async throws -> StoredPublication {
        let outcome = try await attempt(policy, after: base, action: action, restoringAfter: restoringAfter)
        guard case .published(let publication) = outcome else {
            throw BrokenClause(description: "not published: \(outcome)")
        }
        return publication
    }
}
