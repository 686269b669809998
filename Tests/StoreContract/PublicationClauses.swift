import Foundation
import TenureCore
import TenureStore

extension StoreClause {
    static let publications: [StoreClause] = [
        StoreClause("the first policy decides from the start, and another one only once it is published") { store in
            try expect(try await store.publication() == nil, "nothing decides yet")
            let start = try await store.start(with: [1], sha256: [1], at: Sample.now)
            try expect(start.version == 1 && start.act == .start, "the first")
            let again = try await store.start(with: [2], sha256: [2], at: Sample.now)
            try expect(again == start, "still the first")
            try expect(try await store.policies().count == 1, "the other is no version")
            let published = try await store.publish([2], after: start)
            try expect(published.version == 2 && published.id == 2, "the second")
            try expect(try await store.publication() == published, "it decides now")
            let back = try await store.publish([1], after: published, act: .rollback)
            try expect(back.version == 1 && back.id == 3, "a version keeps its number")
            try expect(try await store.publications().map(\.act) == [.start, .publish, .rollback], "all are kept")
            let lines = try await store.audit(before: nil, of: nil, limit: 10)
            try expect(lines.map(\.act) == ["rollback", "publish"], "in the audit trail")
            try expect(lines[1].detail["reason"] == "because" && lines[1].detail["author"] == "ada", "with their words")
        },
        StoreClause("of two publications against one, one is overtaken") { store in
            let start = try await store.start(with: [1], sha256: [1], at: Sample.now)
            _ = try await store.publish([2], after: start)
            let late = try await store.attempt([3], after: start)
            try expect(late == .overtaken, "overtaken")
            try expect(try await store.policies().count == 2, "nothing was kept of it")
        },
        StoreClause("whoever came or changed since the survey is judged when it counts") { store in
            let start = try await store.start(with: [1], sha256: [1], at: Sample.now)
            let before = try await store.amend("1") { $0.add([Sample.artifact("a")], proving: [Sample.proof("1")]) }
            var survey = PublicationSurvey(mark: try await store.ledgerMark())
            survey.verdicts[before.id] = PublicationVerdict(loses: true)
            let new = try await store.amend("2") { $0.add([Sample.artifact("b")], proving: [Sample.proof("2")]) }
            let outcome = try await store.attempt([2], after: start, survey: survey, allowance: 1) {
                surveyed throws(StoreError) in
                try expectSame(surveyed.customer.id, new.id)
                return PublicationVerdict(loses: true)
            }
            try expect(outcome == .takes(2), "the new one counts")
            // Who changed may lose no more.
            _ = try await store.record(SupportAct(.grant, of: "everything", date: Sample.now), for: before.id)
            let second = try await store.attempt([2], after: start, survey: survey, allowance: 1) { surveyed in
                PublicationVerdict(loses: surveyed.customer.id == new.id)
            }
            guard case .published(let publication) = second else {
                throw BrokenClause(description: "not published: \(second)")
            }
            try expect(publication.counts.losing == 1, "one loses")
        },
        StoreClause("more gains than are allowed publish nothing, and any number is allowed where none is said") {
            store in
            let start = try await store.start(with: [1], sha256: [1], at: Sample.now)
            let known = try await store.amend("1") { $0.add([Sample.artifact("a")], proving: [Sample.proof("1")]) }
            var survey = PublicationSurvey(mark: try await store.ledgerMark())
            survey.verdicts[known.id] = PublicationVerdict(gains: true)
            _ = try await store.amend("2") { $0.add([Sample.artifact("b")], proving: [Sample.proof("2")]) }
            let gains: @Sendable (SurveyedCustomer) throws(StoreError) -> PublicationVerdict = { _ in
                PublicationVerdict(gains: true)
            }
            let refused = try await store.attempt([2], after: start, survey: survey, gainAllowance: 1, gains)
            try expect(refused == .gives(2), "the new one counts")
            try expect(try await store.publications().count == 1, "nothing was published")
            let bounded = try await store.attempt([2], after: start, survey: survey, gainAllowance: 2, gains)
            guard case .published(let publication) = bounded else {
                throw BrokenClause(description: "not published: \(bounded)")
            }
            try expect(publication.counts.gaining == 2, "two gain")
            survey = PublicationSurvey(mark: try await store.ledgerMark())
            survey.verdicts[known.id] = PublicationVerdict(gains: true)
            let unbounded = try await store.attempt([1], after: publication, act: .rollback, survey: survey)
            guard case .published = unbounded else { throw BrokenClause(description: "not published: \(unbounded)") }
        },
        StoreClause("who turned out to be another, or was erased, is nobody who loses") { store in
            let start = try await store.start(with: [1], sha256: [1], at: Sample.now)
            let one = try await store.amend("1") { $0.add([Sample.artifact("a")]) }
            let other = try await store.amend("2") { $0.add([Sample.artifact("b")]) }
            var survey = PublicationSurvey(mark: try await store.ledgerMark())
            for id in [one.id, other.id] { survey.verdicts[id] = PublicationVerdict(loses: true) }
            _ = try await store.perform(
                RequestedAct(.merge(other: other.publicID), actor: "ada", at: Sample.now), on: .number(one.id),
                by: Sample.rederivation)
            let merged = try await store.attempt([2], after: start, survey: survey) { _ in
                PublicationVerdict(loses: true)
            }
            try expect(merged == .takes(1), "they are one")
            _ = try await store.perform(
                RequestedAct(.erase, actor: "ada", at: Sample.now), on: .number(one.id),
                by: Sample.rederivation)
            let erased = try await store.attempt([2], after: start, survey: survey)
            try expect(erased == .unsettled, "the survey is to be made again")
        },
        StoreClause("visitors who come and go hold off no publication, and what they were promised ends with it") {
            store in
            let start = try await store.start(with: [1], sha256: [1], at: Sample.now)
            let one = try await store.amend("1") { $0.add([Sample.artifact("a")]) }
            // More than are kept of what one shows: the first ones are gone when the publication comes.
            for number in 0..<15 { _ = try await store.visit(number) }
            let survey = PublicationSurvey(mark: try await store.ledgerMark())
            for number in 15..<40 { _ = try await store.visit(number) }
            let judged = Seen()
            let outcome = try await store.attempt([2], after: start, survey: survey) { surveyed in
                judged.add(surveyed.customer.id)
                return PublicationVerdict()
            }
            guard case .published = outcome else { throw BrokenClause(description: "not published: \(outcome)") }
            let kept = try await store.survey(after: one.id, limit: 100).map(\.customer.id)
            try expect(kept.count == 20 && Set(kept).isSubset(of: judged.all), "each is looked at")

            // The last rows of all are of visitors, whose numbers a database may give again.
            let next = PublicationSurvey(mark: try await store.ledgerMark())
            for number in 40..<60 { _ = try await store.visit(number) }
            let late = try await store.amend("2") { $0.add([Sample.artifact("b")]) }
            let taken = try await store.attempt(
                [3], after: try unwrap(try await store.publication(), "the second"), survey: next
            ) { surveyed in PublicationVerdict(loses: surveyed.customer.id == late.id) }
            try expect(taken == .takes(1), "a customer who came meanwhile is met")
        },
        StoreClause("links, and acts that were refused, hold off no publication; a transfer does") { store in
            let start = try await store.start(with: [1], sha256: [1], at: Sample.now)
            let one = try await store.bring("1")
            let other = try await store.bring("2")
            var mark = try await store.ledgerMark()
            _ = try await store.act(.link(user: "u", .newest), on: one)
            _ = try await store.act(.link(user: "u", .newest), on: one)
            _ = try await store.act(.unlink(user: "nobody"), on: one, reason: "\"refused\": she said")
            _ = try await store.perform(
                RequestedAct(.erase, actor: "ada", at: Sample.now), on: .publicID("cus_x"), by: Sample.rederivation)
            let outcome = try await store.attempt([2], after: start, survey: PublicationSurvey(mark: mark))
            guard case .published(let publication) = outcome else {
                throw BrokenClause(description: "not published: \(outcome)")
            }
            mark = try await store.ledgerMark()
            _ = try await store.act(.link(user: "v", .newest), on: one)
            let transferred = try await store.attempt([3], after: publication, survey: PublicationSurvey(mark: mark))
            try expect(transferred == .unsettled, "what one had may be another's now")
            mark = try await store.ledgerMark()
            _ = try await store.act(.erase, on: other, reason: "a \"refused\": parcel")
            let erased = try await store.attempt([3], after: publication, survey: PublicationSurvey(mark: mark))
            try expect(erased == .unsettled, "somebody is gone")
        },
        StoreClause("a publication ends promises, and a rollback restores them") { store in
            let start = try await store.start(with: [1], sha256: [1], at: Sample.now)
            let promises = [Sample.promise(policy: 1), Sample.promise("cloud", policy: 1)]
            let customer = try await store.amend { $0.promise(promises) }
            var survey = PublicationSurvey(mark: try await store.ledgerMark())
            survey.verdicts[customer.id] = PublicationVerdict(loses: true, ending: ["everything"])
            let outcome = try await store.attempt([2], after: start, survey: survey, allowance: 1, endsPromises: true)
            guard case .published(let taken) = outcome else { throw BrokenClause(description: "\(outcome)") }
            try expect(taken.counts.ended == 1, "one ended")
            try expect(try await store.promises(of: customer.id) == [promises[1]], "the other binds")
            let known = try unwrap(try await store.customer(customer.id), "the customer")
            try expect(known.facts.promises == [promises[1]], "beside the customer too")
            let ledger = try unwrap(try await store.ledger(of: customer.id), "the ledger")
            try expect(ledger.promises == [promises[1]], "so says what is derived")
            try expect(ledger.events.map(\.kind) == [.promisesEnded], "and the timeline says it")
            let restorable = try await store.restorablePromises(after: start.id)
            try expect(restorable == [customer.id: [promises[0]]], "it can be restored")

            let back = try await store.publish([1], after: taken, act: .rollback, restoringAfter: start.id)
            try expect(back.counts.restored == 1, "restored")
            let after = try unwrap(try await store.customer(customer.id), "the customer")
            try expect(Set(after.facts.promises) == Set(promises), "both bind again")
            try expect(Set(try await store.promises(of: customer.id)) == Set(promises), "in the ledger too")
            try expect(try await store.restorablePromises(after: start.id).isEmpty, "nothing is left")
        },
        StoreClause("what was promised anew after it ended binds again") { store in
            let start = try await store.start(with: [1], sha256: [1], at: Sample.now)
            let customer = try await store.amend { $0.promise(Sample.promise(policy: 1)) }
            var survey = PublicationSurvey(mark: try await store.ledgerMark())
            survey.verdicts[customer.id] = PublicationVerdict(loses: true, ending: ["everything"])
            let outcome = try await store.attempt([2], after: start, survey: survey, allowance: 1, endsPromises: true)
            guard case .published(let taken) = outcome else { throw BrokenClause(description: "\(outcome)") }
            _ = try await store.publish([1], after: taken)
            let later = Sample.now.addingTimeInterval(60)
            let anew = RecordedPromise(
                entitlement: "everything", acquisition: Sample.promise(policy: 1).acquisition, policyVersion: 1,
                until: nil, recordedAt: later)
            let known = try await store.amend { $0.promise(anew) }
            try expect(known.facts.promises == [anew], "beside the customer")
            try expect(try await store.promises(of: customer.id) == [anew], "and in the ledger")
        },
        StoreClause("nothing is written that rests on a policy which decides no more") { store in
            let start = try await store.start(with: [1], sha256: [1], at: Sample.now)
            _ = try await store.publish([2], after: start)
            do {
                _ = try await store.amend {
                    $0.promise(Sample.promise(policy: 1))
                    $0.judgedUnder = 1
                }
                throw BrokenClause(description: "a promise of the former policy was written")
            } catch StoreError.policyChanged {
                try expect(try await store.customers(after: 0, limit: 10).isEmpty, "nothing was written")
            }
            let customer = try await store.amend {
                $0.promise(Sample.promise(policy: 2))
                $0.judgedUnder = 2
            }
            try expect(try await store.promises(of: customer.id).count == 1, "one of the present was")
        },
        StoreClause("a walk meets every customer of production once, and says who is a visitor") { store in
            let one = try await store.amend("1") { $0.add([Sample.artifact("a")]) }
            let visit = Identity(visitLedBy: .app, naming: Identity(.appTransactionID, "1"), showing: "x")
            let visitor = try await store.amend([visit], in: Sample.production, at: Sample.now) {
                (Amendment(of: $0), ())
            }.0
            _ = try await store.amend([Identity(.appTransactionID, "1")], in: Realm(.sandbox), at: Sample.now) {
                (Amendment(of: $0), ())
            }
            let first = try await store.survey(after: 0, limit: 1)
            try expect(first.map(\.customer.id) == [one.id] && !first[0].isVisit, "the customer")
            let rest = try await store.survey(after: one.id, limit: 10)
            try expect(rest.map(\.customer.id) == [visitor.id] && rest[0].isVisit, "the visitor, and no sandbox")
        },
        StoreClause("a rehearsal is kept as it was found") { store in
            let start = try await store.start(with: [1], sha256: [1], at: Sample.now)
            let rehearsal = RecordedRehearsal(
                base: start.id, sha256: [2], at: Sample.now, actor: "ada", gaining: 5, losing: 12,
                losingWithPromises: 3,
                report: Array(#"{"customers":40}"#.utf8))
            try await store.record(rehearsal)
            try expect(try await store.rehearsal(rehearsal.id) == rehearsal, "the same")
            try expect(try await store.rehearsal("reh_x") == nil, "no other")
        },
        StoreClause("after a publication everybody is looked at, and under no other") { store in
            let start = try await store.start(with: [1], sha256: [1], at: Sample.now)
            try await store.announce(to: [Endpoint(name: "all")], under: "terms", at: Sample.now)
            let customer = try await store.amend { $0.announcement = .told([], Announced(), nextLook: nil) }
            while try await store.announceAll(at: Sample.now, limit: 10, { _ in nil }) {}
            let published = try await store.publish([2], after: start)
            let seen = Seen()
            let judge: @Sendable (Customer) -> Announcement? = { customer in
                seen.add(customer.id)
                return .told([], Announced(), nextLook: nil)
            }
            try expect(
                try await store.announceAll(at: Sample.now, limit: 10, under: start.id, judge), "more is left")
            try expect(seen.all.isEmpty, "nobody is judged by the former policy")
            while try await store.announceAll(at: Sample.now, limit: 10, under: published.id, judge) {}
            try expect(seen.all.contains(customer.id), "everybody by the new one")
        },
    ]
}

/// Whom a closure met.
private final class Seen: @unchecked Sendable {
    // Sound: `ids` is touched between `lock.lock()` and `lock.unlock()` only.
    private let lock = NSLock()
    private var ids: [Int64] = []

    func add(_ id: Int64) {
        lock.lock()
        ids.append(id)
        lock.unlock()
    }

    var all: [Int64] {
        lock.lock()
        defer { lock.unlock() }
        return ids
    }
}

/// Inside of acts, which throw nothing else.
private func expectSame(_ one: Int64, _ other: Int64) throws(StoreError) {
    guard one == other else { throw .failed("\(one) is judged, and not \(other)") }
}

extension Store {
    /// By somebody who shows what names the customer of the app transaction `1`, each time with another list.
    fileprivate func visit(_ number: Int) async throws -> Customer {
        let visit = Identity(visitLedBy: .app, naming: Identity(.appTransactionID, "1"), showing: "digest\(number)")
        return try await amend([visit], in: Sample.production, at: Sample.now) { known in
            var amendment = Amendment(of: known)
            amendment.add([Sample.artifact("visit \(number)")])
            return (amendment, ())
        }.0
    }

    fileprivate func attempt(
        _ policy: [UInt8], after base: RecordedPublication, act: RecordedPublication.Act = .publish,
        survey: PublicationSurvey? = nil, allowance: Int = 0, gainAllowance: Int? = nil, endsPromises: Bool = false,
        restoringAfter: Int64? = nil,
        _ judge: @escaping @Sendable (SurveyedCustomer) throws(StoreError) -> PublicationVerdict = { _ in
            PublicationVerdict()
        }
    ) async throws -> PublicationOutcome {
        let request = RequestedPublication(
            compiled: policy, sha256: policy, act: act, at: Sample.now, actor: "console", author: "ada",
            reason: "because", base: base.id, restoringAfter: restoringAfter, allowance: allowance,
            gainAllowance: gainAllowance, endsPromises: endsPromises)
        var known = survey
        if known == nil { known = PublicationSurvey(mark: try await ledgerMark()) }
        return try await publish(
            request, after: try unwrap(known, "a survey"), judging: judge)
    }

    fileprivate func publish(
        _ policy: [UInt8], after base: RecordedPublication, act: RecordedPublication.Act = .publish,
        restoringAfter: Int64? = nil
    ) async throws -> RecordedPublication {
        let outcome = try await attempt(policy, after: base, act: act, restoringAfter: restoringAfter)
        guard case .published(let publication) = outcome else {
            throw BrokenClause(description: "not published: \(outcome)")
        }
        return publication
    }
}
