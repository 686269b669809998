import Foundation
import TenureCore
import TenureStore

/// Judges a page of recorded customers: each kind of plain facts once, the others one by one.
struct PageJudge: Sendable {
    let comparison: Comparison
    /// The codes of those that count.
    let realms: Set<UInt8>
    /// By version: what promises rest on.
    let policies: [Int64: Policy]
    let instants: CriticalInstants

    struct Outcome: Sendable {
        var tally: Tally
        /// Customers of other realms.
        var passedOver = 0
        /// With what this page found out.
        var known: KnownVerdicts
    }

    /// `ranks`: of what was counted by now, by which most customers are no examples.
    func judge(
        _ page: CustomerPage, knowing known: KnownVerdicts, ranks: ExampleRanks
    ) throws(RehearsalError) -> Outcome {
        var work = Work(judge: self, known: known, counted: ranks)
        do {
            try page.forEach { realm, publicID, facts throws(StoreError) in
                try work.add(realm, publicID, facts)
            }
        } catch {
            throw .record(error)
        }
        if let broken = work.broken { throw .brokenPolicy(broken) }
        return work.outcome
    }

    private struct Work {
        let judge: PageJudge
        let counted: ExampleRanks
        var known: KnownVerdicts
        var tally: Tally
        var passedOver = 0
        /// A version of the policy that nobody has.
        var broken: Int64?
        /// By the place in `known`: how many customers, and up to which rank they may be examples.
        private var times: [Int]
        private var ranks: [UInt64?]
        private var key: [UInt8] = []

        init(judge: PageJudge, known: KnownVerdicts, counted: ExampleRanks) {
            self.judge = judge
            self.known = known
            self.counted = counted
            tally = Tally(for: judge.comparison)
            times = Array(repeating: 0, count: known.all.count)
            ranks = Array(repeating: nil, count: known.all.count)
        }

        var outcome: Outcome {
            var tally = tally
            for (index, times) in times.enumerated() where times > 0 {
                tally.add(known.all[index].verdicts, in: known.all[index].place, times: times)
            }
            return Outcome(tally: tally, passedOver: passedOver, known: known)
        }

        mutating func add(
            _ realm: UInt8, _ publicID: UnsafeRawBufferPointer, _ facts: UnsafeRawBufferPointer
        ) throws(StoreError) {
            guard judge.realms.contains(realm) else {
                passedOver += 1
                return
            }
            key.removeAll(keepingCapacity: true)
            key.append(realm)
            let instants = judge.instants
            guard PlainFacts.appendKey(of: facts, to: &key, class: { instants.class(of: $0) }) else {
                return try decide(realm, publicID, facts)
            }
            guard let index = known[key] else {
                guard !known.isFull else { return try decide(realm, publicID, facts) }
                guard let (customer, verdicts) = try judged(realm, publicID, facts) else { return }
                _ = known.add(KnownVerdicts.Known(verdicts: verdicts, place: customer.place), as: key)
                times.append(1)
                ranks.append(nil)
                tally.offer(customer, verdicts)
                return
            }
            times[index] += 1
            let highest: UInt64
            if let rank = ranks[index] {
                highest = rank
            } else {
                highest = counted.highest(of: known.all[index].verdicts)
                ranks[index] = highest
            }
            guard StableHash.of(utf8: publicID) <= highest else { return }
            guard let (customer, verdicts) = try judged(realm, publicID, facts) else { return }
            tally.offer(customer, verdicts)
            // What is offered here makes room scarcer than it was.
            ranks[index] = min(highest, ExampleRanks(of: tally).highest(of: verdicts))
        }

        private mutating func decide(
            _ realm: UInt8, _ publicID: UnsafeRawBufferPointer, _ facts: UnsafeRawBufferPointer
        ) throws(StoreError) {
            if let (customer, verdicts) = try judged(realm, publicID, facts) { tally.add(customer, verdicts) }
        }

        /// Nil where a promise rests on a policy that nobody has.
        private mutating func judged(
            _ realm: UInt8, _ publicID: UnsafeRawBufferPointer, _ facts: UnsafeRawBufferPointer
        ) throws(StoreError) -> (RehearsedCustomer, [Verdict])? {
            guard let realm = Realm(code: realm) else { throw .damaged("no realm has the number \(realm)") }
            let facts = try CustomerFacts(decoding: facts)
            var promises: [Promise] = []
            for promise in facts.promises {
                guard let policy = judge.policies[promise.policyVersion] else {
                    broken = promise.policyVersion
                    return nil
                }
                promises.append(
                    Promise(
                        entitlement: promise.entitlement, acquisition: promise.acquisition, policy: policy,
                        until: promise.until))
            }
            let evidence = facts.evidence(in: realm.environment)
            return (
                RehearsedCustomer(id: String(decoding: publicID, as: UTF8.self), evidence),
                judge.comparison.verdicts(on: evidence, promises: promises)
            )
        }
    }
}
