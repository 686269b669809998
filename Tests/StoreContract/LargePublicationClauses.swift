import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    /// Publications and rebuilds that concern large customers.
    static let largePublications: [StoreClause] = [
        StoreClause("a publication decodes and evaluates large customers outside of its transaction") { store in
            let counted = store.counted
            let ordinary = try await counted.ordinary()
            let start = try await store.startFirstPolicy()
            let owner = try await counted.showPromised("owner")
            var evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
            evaluation.setImpact(PublicationImpact(loses: true, ending: ["everything"]), of: owner.id)
            let late = try await counted.show(5000..<7000, by: "late")
            let (taken, work) = try await counted.measured { count in
                let outcome = try await counted.publish(
                    .taking([2], after: start), after: evaluation,
                    evaluating: { subject throws(StoreError) in
                        count(subject.customer.facts.purchases.count)
                        return PublicationImpact(loses: subject.customer.id == late.id)
                    })
                try await counted.finishPublication(at: Sample.now)
                return outcome
            }
            guard case .published(let publication) = taken else { throw BrokenClause(description: "\(taken)") }
            try expect(publication.counts.losing == 2 && publication.counts.ended == 1, "\(publication.counts)")
            try work.expectShort(than: ordinary, "a publication")
            try expect(work.outside >= 4000, "\(work.outside) entries outside")
            try await store.expect(promises: 0, purchases: 2000, of: owner)

            evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
            let (back, restored) = try await counted.measured { _ in
                try await counted.rollBack(.returning([1], after: publication, to: start), after: evaluation)
            }
            guard case .published(let rollback) = back else { throw BrokenClause(description: "\(back)") }
            try expect(rollback.counts.restored == 1, "\(rollback.counts)")
            try restored.expectShort(than: ordinary, "a rollback")
            try await store.expect(promises: 1, purchases: 2000, of: owner)
        },
        StoreClause("a publication keeps what other transactions write to large customers meanwhile") { store in
            let counted = store.counted
            let start = try await store.startFirstPolicy()
            let owner = try await counted.showPromised("owner")
            var evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
            evaluation.setImpact(PublicationImpact(loses: true, ending: ["everything"]), of: owner.id)
            counted.counts.reset { number in
                guard number <= 2 else { return }
                _ = try await store.show(9000 + number..<9001 + number, by: "owner")
            }
            let evaluate: @Sendable (CustomerToEvaluate) throws(StoreError) -> PublicationImpact = {
                subject throws(StoreError) in
                guard subject.customer.facts.purchases.count > 2000 else { throw .failed("an earlier state") }
                return PublicationImpact(loses: true, ending: ["everything"])
            }
            let outcome = try await counted.publish(.taking([2], after: start), after: evaluation, evaluating: evaluate)
            counted.counts.reset()
            guard case .published(let publication) = outcome else { throw BrokenClause(description: "\(outcome)") }
            try expect(publication.counts.losing == 1 && publication.counts.ended == 1, "\(publication.counts)")
            try await store.expect(promises: 0, purchases: 2002, of: owner)
        },
        StoreClause("a publication ends, and a rollback restores, many customers' promises in short transactions") {
            store in
            let counted = store.counted
            let ordinary = try await counted.ordinary()
            let ((start, taken, customers), ending) = try await counted.measured { _ in
                try await counted.takePromises(of: 100)
            }
            for write in ending.writes {
                try expect(write.statements <= 20 * ordinary.statements, "\(write.statements) statements")
                try expect(write.changedRows <= 64, "\(write.changedRows) rows")
            }
            for customer in customers { try await store.expect(promises: 0, purchases: 0, of: customer) }
            let position = try await store.write { try $0.position() }
            let (back, work) = try await counted.measured { _ in
                try await counted.rollBack(
                    .returning([1], after: taken, to: start), after: PublicationEvaluation(at: position))
            }
            guard case .published(let rollback) = back else { throw BrokenClause(description: "\(back)") }
            try expect(rollback.counts.restored == 100, "\(rollback.counts)")
            // Only the entries of the promises are decoded. So other writers wait for a few customers, not for
            // all customers.
            for write in work.writes {
                try expect(write.statements <= 20 * ordinary.statements, "\(write.statements) statements")
                try expect(write.changedRows <= 60, "\(write.changedRows) rows")
            }
            for customer in customers { try await store.expect(promises: 1, purchases: 0, of: customer) }
        },
        StoreClause("an unfinished publication has its full effect for each reader and each change") { store in
            let (start, taken, customers) = try await store.takePromises(of: 3, isFinished: false)
            try expect(taken.counts.ended == 3, "\(taken.counts)")
            try await store.removeOldMarks(at: Sample.now)
            try expect(try await store.markedPromises() == 3, "its marks aren't old")
            func kinds(of customer: Customer) async throws -> [StoredEvent.Kind] {
                try unwrap(try await store.read { try $0.rows(of: customer.id) }, "the rows").events.map(\.kind)
            }
            for customer in customers { try await store.expect(promises: 0, purchases: 0, of: customer) }
            try expect(try await kinds(of: customers[0]).isEmpty, "nothing is written yet")
            let rows = try unwrap(try await store.read { try $0.rows(of: customers[0].id) }, "the rows")
            try expect(rows.customer.facts.promises == rows.promises, "a check finds facts and rows that agree")
            var refusal: StoreError?
            do throws(StoreError) {
                let again = try await store.evaluation(taking: "everything", from: customers[0])
                _ = try await store.markPromises(of: again, at: Sample.now)
            } catch {
                refusal = error
            }
            try expect(refusal == .busy, "another publication leaves the marks: \(String(describing: refusal))")
            let synced = try await store.update("0") { $0.add([], purchases: [Sample.purchase("1")]) }
            try expect(synced.facts.promises.isEmpty, "\(synced.facts.promises)")
            try expect(try await kinds(of: customers[0]) == [.promisesEnded], "a sync ends the customer's promises")
            try expect(try await kinds(of: customers[1]).isEmpty, "the others still wait")
            try await store.finishPublication(at: Sample.now)
            for customer in customers { try expect(try await kinds(of: customer) == [.promisesEnded], "once each") }

            let evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
            let back = try await store.publish(
                .returning([1], after: taken, to: start), after: evaluation,
                evaluating: { _ throws(StoreError) in PublicationImpact() })
            guard case .published(let rollback) = back else { throw BrokenClause(description: "\(back)") }
            try expect(rollback.counts.restored == 3, "\(rollback.counts)")
            try await store.expect(promises: 1, purchases: 0, of: customers[1])
            let again = try await store.update("2") { $0.add([], purchases: [Sample.purchase("2")]) }
            try expect(again.facts.promises.count == 1, "\(again.facts.promises)")
            try await store.finishPublication(at: Sample.now)
            for customer in customers {
                try expect(
                    try await kinds(of: customer) == [.promisesEnded, .promisesRestored],
                    "one event for the ended and one for the restored promises")
            }
        },
        StoreClause("an unfinished rollback restores no promise that the publication to which it returns has ended") {
            store in
            let (_, taken, customers) = try await store.takePromises(of: 1)
            let owner = customers[0]
            _ = try await store.update("0") { $0.promise(Sample.promise("cloud", policy: taken.version)) }
            let evaluation = try await store.markPromises(
                of: try await store.evaluation(taking: "cloud", from: owner), at: Sample.now)
            let third = try await store.publish(
                .taking([3], after: taken), after: evaluation,
                evaluating: { _ throws(StoreError) in PublicationImpact() })
            guard case .published(let later) = third else { throw BrokenClause(description: "\(third)") }
            try await store.finishPublication(at: Sample.now)
            try await store.expect(promises: 0, purchases: 0, of: owner)
            let back = try await store.publish(
                .returning([2], after: later, to: taken),
                after: PublicationEvaluation(at: try await store.write { try $0.position() }),
                evaluating: { _ throws(StoreError) in PublicationImpact() })
            guard case .published(let rollback) = back else { throw BrokenClause(description: "\(back)") }
            try expect(rollback.counts.restored == 1, "\(rollback.counts)")
            let names = try await store.present(owner).facts.promises.map(\.entitlement)
            try expect(names == ["cloud"], "before it is finished: \(names)")
            try await store.finishPublication(at: Sample.now)
            try await store.expect(promises: 1, purchases: 0, of: owner)
        },
        StoreClause("support can grant a right to a large customer with a promise that a publication still has to end")
        { store in
            let start = try await store.startFirstPolicy()
            let owner = try await store.showPromised("owner")
            let outcome = try await store.publish(
                .taking([2], after: start), after: try await store.evaluation(taking: "everything", from: owner),
                evaluating: { _ throws(StoreError) in PublicationImpact() })
            guard case .published = outcome else { throw BrokenClause(description: "\(outcome)") }
            _ = try await store.record(SupportGrant(.grant, of: "cloud", date: Sample.now), for: owner.id)
            try await store.expect(promises: 0, purchases: 2000, of: owner)
            try await store.finishPublication(at: Sample.now)
            try await store.expect(promises: 0, purchases: 2000, of: owner)
        },
        StoreClause("promises that are marked for a publication apply until the publication takes effect") { store in
            let start = try await store.startFirstPolicy()
            let customer = try await store.update("1") { $0.promise(Sample.promise(policy: 1)) }
            var evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
            evaluation.setImpact(PublicationImpact(loses: true, ending: ["everything"]), of: customer.id)
            let first = try await store.markPromises(of: evaluation, at: Sample.now)
            let second = try await store.markPromises(
                of: try await store.evaluation(taking: "everything", from: customer), at: Sample.now)
            try await store.expect(promises: 1, purchases: 0, of: customer)
            var refusal: StoreError?
            do throws(StoreError) {
                _ = try await store.publish(
                    .taking([2], after: start), after: first,
                    evaluating: { _ throws(StoreError) in PublicationImpact() })
            } catch {
                refusal = error
            }
            try expect(refusal == .busy, "another publication has marked the promises: \(String(describing: refusal))")
            // In the meantime the customer gets another right, and keeps the promise by the new evaluation.
            _ = try await store.update("1") { $0.add([Sample.artifact("b")], purchases: [Sample.purchase("1")]) }
            let outcome = try await store.publish(
                .taking([2], after: start), after: second,
                evaluating: { _ throws(StoreError) in PublicationImpact() })
            guard case .published(let publication) = outcome else { throw BrokenClause(description: "\(outcome)") }
            try expect(publication.counts.ended == 0 && publication.counts.losing == 0, "\(publication.counts)")
            try await store.finishPublication(at: Sample.now)
            try await store.expect(promises: 1, purchases: 1, of: customer)

            _ = try await store.markPromises(
                of: try await store.evaluation(taking: "everything", from: customer), at: Sample.now)
            try await store.removeOldMarks(at: Sample.now)
            try expect(try await store.markedPromises() == 1, "a publication may be about to begin")
            _ = try await store.publish(
                .taking([3], after: publication), after: try await store.evaluation(taking: "cloud", from: customer),
                evaluating: { _ throws(StoreError) in PublicationImpact() })
            try await store.finishPublication(at: Sample.now)
            try await store.removeOldMarks(at: Sample.now)
            try expect(try await store.markedPromises() == 0, "the first one didn't take effect")
            try await store.expect(promises: 1, purchases: 1, of: customer)
        },
        StoreClause("an interrupted rollback is finished later, and until then no other publication succeeds") {
            store in
            let counted = store.counted
            try await store.write(at: Sample.now, locking: [.endpoints]) {
                try $0.register([Endpoint(name: "all")], comparisonKey: "a")
            }
            let (start, taken, customers) = try await store.takePromises(of: 40)
            let erased = try unwrap(customers.last, "a customer")
            let position = try await store.write { try $0.position() }
            counted.counts.reset { number in
                // The first transaction publishes, the next ones restore promises.
                if number == 3 { throw BrokenClause(description: "the process ends") }
            }
            let back = try await counted.publish(
                .returning([1], after: taken, to: start), after: PublicationEvaluation(at: position),
                evaluating: { _ throws(StoreError) in PublicationImpact() })
            var hasEnded = false
            do { try await counted.finishPublication(at: Sample.now) } catch { hasEnded = true }
            try expect(hasEnded, "finishing the rollback was interrupted")
            counted.counts.reset()
            guard case .published(let rollback) = back else { throw BrokenClause(description: "\(back)") }
            try expect(rollback.counts.restored == 40, "\(rollback.counts)")
            let some = try await store.read { try $0.restorablePromises(after: start.id) }.count
            try expect(some > 0 && some < 40, "\(some) customers wait for their promises")

            let isCompared = try await store.compareAllCustomers(at: Sample.now, limit: 100) { _ in nil }
            try expect(!isCompared, "webhooks report nothing as lost meanwhile")
            let evaluation = PublicationEvaluation(at: try await store.write { try $0.position() })
            let next = try await store.publish(
                .taking([2], after: rollback), after: evaluation,
                evaluating: { _ throws(StoreError) in PublicationImpact() })
            try expect(next == .behind, "\(next)")
            _ = try await store.change(.erase, on: erased)
            // In the meantime, the promise of another customer is made again.
            _ = try await store.update("38") { $0.promise(Sample.promise(policy: 1)) }
            try await store.finishPublication(at: Sample.now)
            try expect(try await store.read { try $0.restorablePromises(after: start.id) }.isEmpty, "nothing is left")
            for customer in customers.dropLast() { try await store.expect(promises: 1, purchases: 0, of: customer) }
            let rows = try unwrap(try await store.read { try $0.rows(of: customers[0].id) }, "the rows")
            try expect(rows.events.map(\.kind) == [.promisesEnded, .promisesRestored], "\(rows.events)")
            let isComparedNow = try await store.compareAllCustomers(at: Sample.now, limit: 100) { _ in nil }
            try expect(isComparedNow, "webhooks report what changed")

            let again = try await store.publish(
                .taking([2], after: rollback),
                after: PublicationEvaluation(at: try await store.write { try $0.position() }),
                evaluating: { _ throws(StoreError) in PublicationImpact() })
            guard case .published = again else { throw BrokenClause(description: "\(again)") }
        },
        StoreClause("a rebuild verifies and decodes a large customer outside of its transaction") { store in
            let counted = store.counted
            let ordinary = try await counted.ordinary()
            let customer = try await counted.show(0..<2000, by: "large")
            let (rebuilt, work) = try await counted.measured { count in
                try await counted.rebuild(customer.id) { rows throws(StoreError) in
                    count(rows.artifacts.count)
                    var facts = try Sample.facts(of: rows)
                    facts.add([Sample.proof("rebuilt")])
                    return facts
                }
            }
            try expect(rebuilt?.hasChanged == true, "changed")
            try work.expectShort(than: ordinary, "a rebuild")
            try expect(work.outside >= 2000, "\(work.outside) entries outside")
            let now = try await store.present(customer)
            try expect(now.facts.proofs == [Sample.proof("rebuilt")] && now.facts.purchases.count == 2000, "stored")
        },
        StoreClause("a rebuild keeps what other transactions write meanwhile") { store in
            let counted = store.counted
            let customer = try await counted.show(0..<2000, by: "large")
            // The facts contain this purchase already, so its artifact changes no byte of them.
            _ = try await store.update("large") { $0.add([], purchases: [Sample.purchase("9000")]) }
            counted.counts.reset { number in
                guard number == 1 else { return }
                _ = try await store.show(9000..<9001, by: "large")
            }
            _ = try await counted.rebuild(customer.id) { rows throws(StoreError) in try Sample.facts(of: rows) }
            counted.counts.reset()
            let now = try await store.present(customer)
            try expect(now.facts.purchases.count == 2001, "\(now.facts.purchases.count) purchases")
        },
    ]
}

extension RequestedPublication {
    /// A publication that ends promises of some customers.
    fileprivate static func taking(
        _ policy: [UInt8], after base: StoredPublication, from allowance: Int = 10
    ) -> RequestedPublication {
        RequestedPublication(
            compiled: policy, sha256: policy, action: .publish, at: Sample.now, actor: "ada", reason: nil,
            base: base.id, lossAllowance: allowance, endsPromises: true)
    }

    fileprivate static func returning(
        _ policy: [UInt8], after base: StoredPublication, to former: StoredPublication
    ) -> RequestedPublication {
        RequestedPublication(
            compiled: policy, sha256: policy, action: .rollback, at: Sample.now, actor: "ada", reason: nil,
            base: base.id, restoringAfter: former.id)
    }
}

extension Store {
    /// Shows 2,000 purchases of a customer with one promise.
    fileprivate func showPromised(_ id: String) async throws -> Customer {
        let customer = try await show(0..<2000, by: id)
        return try await update(id) { $0.promise(Sample.promise(policy: 1)) }.id == customer.id
            ? present(customer) : customer
    }

    /// Publishes an earlier policy again, and restores promises.
    fileprivate func rollBack(
        _ request: RequestedPublication, after evaluation: PublicationEvaluation
    ) async throws -> PublicationOutcome {
        let outcome = try await publish(
            request, after: evaluation, evaluating: { _ throws(StoreError) in PublicationImpact() })
        try await finishPublication(at: Sample.now)
        return outcome
    }

    /// Makes promises to customers, and publishes a policy that takes them away.
    fileprivate func takePromises(
        of count: Int, isFinished: Bool = true
    ) async throws -> (start: StoredPublication, taken: StoredPublication, customers: [Customer]) {
        let start = try await startFirstPolicy()
        var customers: [Customer] = []
        for number in 0..<count {
            customers.append(try await update("\(number)") { $0.promise(Sample.promise(policy: 1)) })
        }
        var evaluation = PublicationEvaluation(at: try await write { try $0.position() })
        for customer in customers {
            evaluation.setImpact(PublicationImpact(loses: true, ending: ["everything"]), of: customer.id)
        }
        evaluation = try await markPromises(of: evaluation, at: Sample.now)
        let outcome = try await publish(
            .taking([2], after: start, from: count), after: evaluation,
            evaluating: { _ throws(StoreError) in PublicationImpact() })
        if isFinished { try await finishPublication(at: Sample.now) }
        guard case .published(let taken) = outcome else { throw BrokenClause(description: "\(outcome)") }
        try StoreContract.expect(taken.counts.ended == count, "\(taken.counts)")
        return (start, taken, customers)
    }

    /// Returns an evaluation by which one customer loses the promises of an entitlement.
    func evaluation(
        taking entitlement: String, from customer: Customer
    ) async throws(StoreError) -> PublicationEvaluation {
        var evaluation = PublicationEvaluation(at: try await write { try $0.position() })
        evaluation.setImpact(PublicationImpact(loses: true, ending: [entitlement]), of: customer.id)
        return evaluation
    }

    fileprivate func markedPromises() async throws -> Int64? {
        try await read { try $0.session.row("SELECT count(*) FROM promises WHERE ending IS NOT NULL")?.integer(0) }
    }

    fileprivate func expect(promises: Int, purchases: Int, of customer: Customer) async throws {
        let now = try await present(customer)
        try StoreContract.expect(
            now.facts.promises.count == promises, "\(promises) promises: \(now.facts.promises.count)")
        try StoreContract.expect(
            now.facts.purchases.count == purchases, "\(purchases) purchases: \(now.facts.purchases.count)")
    }
}
