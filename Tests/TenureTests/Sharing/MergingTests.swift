import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `Copies of one state that are merged` {
    private func state() -> StoredState {
        var state = StoredState(clock: World.now)
        state.account.add(World.newcomer())
        return state
    }

    private func merged(_ mine: StoredState, _ stored: StoredState, base: StoredState) -> StoredState {
        mine.merging(stored, base: base, at: World.now)
    }

    @Test func `keep all that only grows, in whatever order they are written`() {
        for seed in 0..<200 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let base = state()
            let copies = (0..<4).map { copy in
                var state = base
                for _ in 0..<Int.random(in: 0...4, using: &generator) { grow(&state, copy, &generator) }
                return state
            }
            let results = [copies, copies.reversed(), copies.shuffled(using: &generator)].map { order in
                order.reduce(base) { stored, mine in merged(mine, stored, base: base) }
            }
            for result in results {
                for copy in copies { expect(result, keeps: copy, "seed \(seed)") }
                #expect(result.growing == results[0].growing, "seed \(seed)")
                // Merging once more changes nothing.
                #expect(merged(result, result, base: base) == result, "seed \(seed)")
            }
        }
    }

    private func grow(_ state: inout StoredState, _ copy: Int, _ generator: inout SeededGenerator) {
        let number = Int.random(in: 1...6, using: &generator)
        let later = World.now.addingTimeInterval(Double(number) * 60)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0:
            let refund = Bool.random(using: &generator) ? later : nil
            state.account.add([World.purchase(id: "41000000000000\(number)", revoked: refund, signed: later)])
        case 1:
            state.account.add([
                Renewal(
                    originalTransactionID: "\(number)", productID: World.yearly, gracePeriodExpiresDate: later,
                    isInBillingRetryPeriod: true, signedDate: later.addingTimeInterval(Double(copy)))
            ])
        case 2: state.account.add(World.newcomer(signed: later))
        case 3: state.trials["\(number)", default: [:]]["everything", default: TrialUse()].sessions = number + copy
        case 4: state.time.begin("\(number)/cloud", at: World.now.addingTimeInterval(-Double(copy) * 3600))
        default: state.time.look(at: later)
        }
    }

    private func expect(_ result: StoredState, keeps copy: StoredState, _ comment: Comment) {
        let ids = Set(result.account.purchases.map(\.transactionID))
        #expect(ids.isSuperset(of: copy.account.purchases.map(\.transactionID)), comment)
        for purchase in copy.account.purchases {
            let known = result.account.purchases.first { $0.transactionID == purchase.transactionID }
            #expect((known?.signedDate ?? .distantPast) >= (purchase.signedDate ?? .distantPast), comment)
        }
        for renewal in copy.account.renewals {
            let known = result.account.renewals.first { $0.originalTransactionID == renewal.originalTransactionID }
            #expect((known?.signedDate ?? .distantPast) >= (renewal.signedDate ?? .distantPast), comment)
        }
        #expect(
            (result.account.proofs.compactMap(\.signedDate).max() ?? .distantPast)
                >= (copy.account.proofs.compactMap(\.signedDate).max() ?? .distantPast), comment)
        for (holder, uses) in copy.trials {
            for (name, use) in uses { #expect(result.trials[holder]?[name]?.sessions ?? 0 >= use.sessions, comment) }
        }
        for (name, beginning) in copy.time.beginnings {
            #expect((result.time.beginnings[name] ?? .distantFuture) <= beginning, comment)
        }
        #expect(result.time.floor >= copy.time.floor && result.time.firstSeen <= copy.time.firstSeen, comment)
    }

    @Test func `count a trial session once that both know`() {
        var base = state()
        base.trials = ["unknown": ["everything": TrialUse(sessions: 1)]]
        var (mine, stored) = (base, base)
        mine.joinTrials()
        stored.joinTrials()
        #expect(merged(mine, stored, base: base).trialSessions(of: "everything") == 1)
    }

    @Test func `take the later answer of the service`() {
        let base = state()
        var (earlier, later) = (base, base)
        earlier.account.entitlementToken = "earlier"
        earlier.account.askedAt = World.now
        later.account.entitlementToken = "later"
        later.account.askedAt = World.now.addingTimeInterval(1)
        for (mine, stored) in [(earlier, later), (later, earlier)] {
            let account = merged(mine, stored, base: base).account
            #expect(account.entitlementToken == "later")
            #expect(account.askedAt == later.account.askedAt)
        }
    }

    @Test func `ask the service again about what only one of them saw`() {
        let base = state()
        var (told, bought) = (base, base)
        told.account.entitlementToken = "without the purchase"
        told.account.askedAt = World.now
        bought.account.add([World.purchase()])
        for (mine, stored) in [(told, bought), (bought, told)] {
            let account = merged(mine, stored, base: base).account
            #expect(account.entitlementToken == "without the purchase")
            #expect(account.askedAt == nil)
        }
    }

    @Test func `keep no denial that was found without the other's purchase`() {
        let base = state()
        var (denied, bought) = (base, base)
        denied.account.denials = ["everything", "cloud"]
        bought.account.add([World.purchase()])
        bought.account.denials = ["cloud"]
        for (mine, stored) in [(denied, bought), (bought, denied)] {
            #expect(merged(mine, stored, base: base).account.denials == ["cloud"])
        }
        // With the same evidence both denials count, and a denial that one of them took back does not.
        var other = base
        other.account.denials = ["pro"]
        #expect(merged(denied, other, base: base).account.denials == ["everything", "cloud", "pro"])
        #expect(merged(base, denied, base: denied).account.denials.isEmpty)
    }

    @Test func `take the account that is present, and the other's trials`() {
        let base = state()
        var (stored, mine) = (base, base)
        stored.account.add([World.purchase()])
        stored.trials = ["704000000000000002": ["everything": TrialUse(sessions: 2)]]
        mine.discardAccount()
        mine.account.add(World.owner())
        let result = merged(mine, stored, base: base)
        #expect(result.account == mine.account)
        #expect(result.trials == stored.trials)
        // A copy that learned nothing takes what the other met.
        #expect(merged(base, mine, base: base).account == mine.account)
    }

    @Test func `forget a clock that one of them found to have been wrong`() {
        var base = state()
        base.time.look(at: World.date("2099-01-01"))
        var healed = base
        healed.time.learn(signedAt: World.now, clock: World.now)
        healed.time.learn(signedAt: World.now.addingTimeInterval(1), clock: World.now)
        #expect(healed.time.floor < base.time.floor)
        for (mine, stored) in [(healed, base), (base, healed)] {
            #expect(merged(mine, stored, base: base).time.floor == healed.time.floor)
        }
    }

    @Test func `wait as long as before when only one of them saw the clock turned back`() {
        let base = state()
        var seen = base
        let earlier = World.now.addingTimeInterval(-World.day)
        seen.time.look(at: earlier)
        for (mine, stored) in [(seen, base), (base, seen)] {
            let time = mine.merging(stored, base: base, at: earlier).time
            #expect(time.age(earlier) == 0)
            #expect(!time.isImpossible)
        }
    }

    @Test func `keep a delivery that either noted, until either finished it`() {
        var base = state()
        base.account.delivered = ["1", "2"]
        var (mine, stored) = (base, base)
        mine.account.delivered = ["2", "3"]
        stored.account.delivered = ["1", "2", "4"]
        for result in [merged(mine, stored, base: base), merged(stored, mine, base: base)] {
            #expect(result.account.delivered == ["2", "3", "4"])
        }
    }
}

extension StoredState {
    /// What no order of merges changes.
    fileprivate var growing: StoredState {
        var state = self
        state.account.denials = []
        state.account.askedAt = nil
        return state
    }
}

/// SplitMix64: the same numbers for the same seed.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
