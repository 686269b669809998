import Foundation
import TenureCore
import TenureStore

/// Judges a page of stored customers: each kind of plain facts once, the others one by one.
struct PageJudge: Sendable {
    let comparison: Comparison
    /// The codes of accepted environments.
    let realms: Set<UInt8>
    /// By version: the policies of promises.
    let policies: [Int64: Policy]
    let instants: CriticalInstants

    struct Outcome: Sendable {
        /// Of customers who were decided one by one, and with the examples of all.
        var tally: Tally
        /// Customers of other environments or authorities.
        var passedOver = 0
        /// The kinds that this page found, and how many customers there are: of the known kinds, then of the page's
        /// own.
        var own = KnownVerdicts()
        var times: [Int]
    }

    /// Judges the rows that `rows` passes. `ranks`: of what was counted so far; most customers can't be examples.
    func judge(
        knowing known: KnownVerdicts, ranks: ExampleRanks,
        _ rows: ((UInt8, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Void)
            async throws(StoreError) -> Void
    ) async throws(RehearsalError) -> Outcome {
        var work = Work(judge: self, known: known, counted: ranks)
        do throws(StoreError) {
            try await rows { realm, publicID, facts throws(StoreError) in try work.add(realm, publicID, facts) }
        } catch {
            throw .record(error)
        }
        if let broken = work.broken { throw .brokenPolicy(broken) }
        return work.outcome
    }

    private struct Work {
        let judge: PageJudge
        let counted: ExampleRanks
        let known: KnownVerdicts
        let realms: [Bool]
        var outcome: Outcome
        /// A version of the policy that doesn't exist.
        var broken: Int64?
        /// By the index in `times`: up to which rank they may be examples; nil if unknown yet.
        private var ranks: [UInt64?]
        /// Keys are written here, one over the other.
        private var room = [UInt8](repeating: 0, count: 1024)

        init(judge: PageJudge, known: KnownVerdicts, counted: ExampleRanks) {
            self.judge = judge
            self.known = known
            self.counted = counted
            var realms = Array(repeating: false, count: 256)
            for realm in judge.realms { realms[Int(realm)] = true }
            self.realms = realms
            outcome = Outcome(
                tally: Tally(for: judge.comparison), times: Array(repeating: 0, count: known.count))
            ranks = Array(repeating: nil, count: known.count)
        }

        mutating func add(
            _ realm: UInt8, _ publicID: UnsafeRawBufferPointer, _ facts: UnsafeRawBufferPointer
        ) throws(StoreError) {
            guard realms[Int(realm)] else {
                outcome.passedOver += 1
                return
            }
            let instants = judge.instants
            let size = room.withUnsafeMutableBytes { room in
                PlainFacts.writeKey(of: facts, in: realm, to: room) { instants.class(of: $0) }
            }
            guard let size else { return try decide(realm, publicID, facts) }
            let found = room.withUnsafeBytes { room -> (hash: UInt64, index: Int?) in
                let key = UnsafeRawBufferPointer(rebasing: room[..<size])
                let hash = StableHash.of(key)
                return (hash, self.index(of: key, hash: hash))
            }
            guard let index = found.index else {
                guard known.count + outcome.own.count < KnownVerdicts.most else {
                    return try decide(realm, publicID, facts)
                }
                return try decideFirst(realm, publicID, facts, keySize: size, hash: found.hash)
            }
            outcome.times[index] += 1
            let highest = ranks[index] ?? rank(at: index)
            guard StableHash.of(publicID) <= highest else { return }
            guard let (customer, judgment) = try judged(realm, publicID, facts) else { return }
            outcome.tally.offer(customer, judgment.written)
            // Each candidate leaves less room for examples than before.
            ranks[index] = min(highest, ExampleRanks(of: outcome.tally).highest(of: kind(at: index).chances))
        }

        private func index(of key: UnsafeRawBufferPointer, hash: UInt64) -> Int? {
            known.index(of: key, hash: hash) ?? outcome.own.index(of: key, hash: hash).map { known.count + $0 }
        }

        private func kind(at index: Int) -> KnownVerdicts.Known {
            index < known.count ? known.all[index] : outcome.own.all[index - known.count]
        }

        private mutating func rank(at index: Int) -> UInt64 {
            let highest = counted.highest(of: kind(at: index).chances)
            ranks[index] = highest
            return highest
        }

        /// The first customer of a kind: the others have the same verdicts.
        private mutating func decideFirst(
            _ realm: UInt8, _ publicID: UnsafeRawBufferPointer, _ facts: UnsafeRawBufferPointer, keySize: Int,
            hash: UInt64
        ) throws(StoreError) {
            guard let (customer, judgment) = try judged(realm, publicID, facts) else { return }
            let kind = KnownVerdicts.Known(
                judgment: judgment, place: customer.place,
                chances: ExampleRanks.Chances(
                    judgment.written, on: customer.place.platform, among: outcome.tally.byEntitlement.count))
            room.withUnsafeBytes { room in
                outcome.own.add(kind, as: UnsafeRawBufferPointer(rebasing: room[..<keySize]), hash: hash)
            }
            outcome.times.append(1)
            ranks.append(nil)
            outcome.tally.offer(customer, judgment.written)
        }

        private mutating func decide(
            _ realm: UInt8, _ publicID: UnsafeRawBufferPointer, _ facts: UnsafeRawBufferPointer
        ) throws(StoreError) {
            if let (customer, judgment) = try judged(realm, publicID, facts) { outcome.tally.add(customer, judgment) }
        }

        /// Nil if a promise is based on a policy that doesn't exist.
        private mutating func judged(
            _ realm: UInt8, _ publicID: UnsafeRawBufferPointer, _ facts: UnsafeRawBufferPointer
        ) throws(StoreError) -> (RehearsedCustomer, Judgment)? {
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
                judge.comparison.judgment(on: evidence, promises: promises)
            )
        }
    }
}
