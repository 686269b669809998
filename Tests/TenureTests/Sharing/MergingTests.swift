import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `merging states of several processes` {
    private func state() -> StoredState {
        var state = StoredState(clock: InventedApp.now)
        state.account.add(InventedApp.newcomer())
        return state
    }

    private func merged(_ mine: StoredState, _ stored: StoredState, base: StoredState) -> StoredState {
        mine.merging(stored, base: base, at: InventedApp.now)
    }

    @Test func `merging two states drops their denials unless the denials of one state considered all purchases`() {
        var (mine, stored) = (Account(), Account())
        mine.add([InventedApp.purchase(id: "1")])
        mine.denials = ["cloud"]
        stored.add([InventedApp.purchase(id: "2")])
        stored.denials = ["cloud"]
        #expect(mine.merging(stored, base: Account()).denials.isEmpty)
        // A denial that considered all purchases is kept.
        mine.add([InventedApp.purchase(id: "2")])
        #expect(mine.merging(stored, base: Account()).denials == ["cloud"])
    }

    @Test func `merging keeps the grants that another process stored, unless this process found different grants`() {
        let everything: [String: Tenure.Answer] = ["everything": .kept("everything", title: nil, until: nil)]
        func merged(
            mine: [String: Tenure.Answer], stored: [String: Tenure.Answer], base: [String: Tenure.Answer]
        ) -> [String: Tenure.Answer] {
            // Each process has also added a purchase.
            let accounts = [mine, stored, base].enumerated().map { index, granted in
                var account = Account()
                if index < 2 { account.add([InventedApp.purchase(id: "\(index)")]) }
                account.grantedByDevice = granted
                return account
            }
            return accounts[0].merging(accounts[1], base: accounts[2]).grantedByDevice
        }
        #expect(merged(mine: [:], stored: everything, base: [:]) == everything)
        #expect(merged(mine: everything, stored: [:], base: [:]) == everything)
        let cloud: [String: Tenure.Answer] = ["cloud": .kept("cloud", title: nil, until: nil)]
        #expect(merged(mine: cloud, stored: everything, base: [:]) == cloud)
        // One of the processes has found that a grant ended.
        #expect(merged(mine: [:], stored: everything, base: everything).isEmpty)
        #expect(merged(mine: everything, stored: [:], base: everything).isEmpty)
    }

    @Test func `merged states keep every fact that a process added, in any order of writing`() {
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
        let later = InventedApp.now.addingTimeInterval(Double(number) * 60)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0:
            let refund = Bool.random(using: &generator) ? later : nil
            state.account.add([InventedApp.purchase(id: "41000000000000\(number)", revoked: refund, signed: later)])
        case 1:
            state.account.add([
                Renewal(
                    originalTransactionID: "\(number)", productID: InventedApp.yearly, gracePeriodExpiresDate: later,
                    isInBillingRetryPeriod: true, signedDate: later.addingTimeInterval(Double(copy)))
            ])
        case 2: state.account.add(InventedApp.newcomer(signed: later))
        case 3: state.trials["\(number)", default: [:]]["everything", default: TrialUse()].sessions = number + copy
        case 4: state.time.begin("\(number)/cloud", at: InventedApp.now.addingTimeInterval(-Double(copy) * 3600))
        default: state.time.observe(clock: later)
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

    @Test func `merged states keep the newer signing date of the two states`() {
        let base = state()
        var (earlier, later) = (base, base)
        earlier.time.update(signedAt: InventedApp.now.addingTimeInterval(60), clock: InventedApp.now)
        later.time.update(signedAt: InventedApp.now.addingTimeInterval(120), clock: InventedApp.now)
        for (mine, stored) in [(earlier, later), (later, earlier)] {
            #expect(merged(mine, stored, base: base).time.newestSigning == later.time.newestSigning)
        }
    }

    @Test func `merging keeps this process's revocations if the stored revocations are of another offline root`() {
        let base = state()
        var (mine, stored) = (base, base)
        mine.revocations = KeyRevocations(root: "new", counter: 1, keys: ["revoked"])
        stored.revocations = KeyRevocations(root: "old", counter: 2, keys: [])
        #expect(merged(mine, stored, base: base).revocations == mine.revocations)
    }

    @Test func `merged states count a trial session once if both states contain it`() {
        var base = state()
        base.trials = ["unknown": ["everything": TrialUse(sessions: 1)]]
        var (mine, stored) = (base, base)
        mine.copyTrialsToBestName()
        stored.copyTrialsToBestName()
        #expect(merged(mine, stored, base: base).trialSessions(of: "everything") == 1)
    }

    @Test func `merged states take the later response of the service`() {
        let base = state()
        var (earlier, later) = (base, base)
        earlier.account.entitlementToken = "earlier"
        earlier.account.answeredAt = InventedApp.now
        later.account.entitlementToken = "later"
        later.account.answeredAt = InventedApp.now.addingTimeInterval(1)
        for (mine, stored) in [(earlier, later), (later, earlier)] {
            let account = merged(mine, stored, base: base).account
            #expect(account.entitlementToken == "later")
            #expect(account.answeredAt == later.account.answeredAt)
        }
    }

    @Test func `the service is asked again after a merge if only one of the states has a purchase`() {
        let base = state()
        var (told, bought) = (base, base)
        told.account.entitlementToken = "without the purchase"
        told.account.answeredAt = InventedApp.now
        bought.account.add([InventedApp.purchase()])
        for (mine, stored) in [(told, bought), (bought, told)] {
            let account = merged(mine, stored, base: base).account
            #expect(account.entitlementToken == "without the purchase")
            #expect(account.answeredAt == nil)
        }
    }

    @Test func `merging drops a denial that one state made without the purchase of the other state`() {
        let base = state()
        var (denied, bought) = (base, base)
        denied.account.denials = ["everything", "cloud"]
        bought.account.add([InventedApp.purchase()])
        bought.account.denials = ["cloud"]
        for (mine, stored) in [(denied, bought), (bought, denied)] {
            #expect(merged(mine, stored, base: base).account.denials == ["cloud"])
        }
        // With the same evidence the denials of both states are kept, except one that a state took back.
        var other = base
        other.account.denials = ["pro"]
        #expect(merged(denied, other, base: base).account.denials == ["everything", "cloud", "pro"])
        #expect(merged(base, denied, base: denied).account.denials.isEmpty)
    }

    @Test func `merged states have the environment and the app that only one of the processes knows`() {
        var (mine, stored) = (Account(), Account())
        mine.add([InventedApp.purchase(environment: .sandbox)])
        stored.add(InventedApp.newcomer(environment: .sandbox))
        for account in [mine.merging(stored, base: Account()), stored.merging(mine, base: Account())] {
            #expect(account.environment == .sandbox && account.bundleID == InventedApp.bundleID)
            #expect(account.key?.appTransactionID == "704000000000000002")
            #expect(account.purchases.count == 1 && account.proofs.count == 1)
        }
    }

    @Test func `merging takes the account of the process that changed it, and keeps the former account's trials`() {
        let base = state()
        var (stored, mine) = (base, base)
        stored.account.add([InventedApp.purchase()])
        stored.trials = ["704000000000000002": ["everything": TrialUse(sessions: 2)]]
        mine.discardAccount()
        mine.account.add(InventedApp.owner())
        let result = merged(mine, stored, base: base)
        #expect(result.account == mine.account)
        #expect(result.trials == stored.trials)
        // An unchanged copy takes the other's account.
        #expect(merged(base, mine, base: base).account == mine.account)
    }

    @Test func `the grace period of merged states starts at the earlier beginning`() {
        let base = state()
        var early = StoredState(clock: InventedApp.now.addingTimeInterval(-2 * InventedApp.day))
        early.time.observe(clock: InventedApp.now)
        for (mine, stored) in [(early, base), (base, early)] {
            #expect(
                merged(mine, stored, base: StoredState(clock: InventedApp.now)).time.age(InventedApp.now)
                    == 2 * InventedApp.day)
        }
    }

    @Test func `merged states drop a latest known date that is wrong once one process has corrected it`() {
        var base = state()
        base.time.observe(clock: InventedApp.date("2099-01-01"))
        var healed = base
        healed.time.update(signedAt: InventedApp.now, clock: InventedApp.now)
        healed.time.update(signedAt: InventedApp.now.addingTimeInterval(1), clock: InventedApp.now)
        #expect(healed.time.floor < base.time.floor)
        for (mine, stored) in [(healed, base), (base, healed)] {
            #expect(merged(mine, stored, base: base).time.floor == healed.time.floor)
        }
    }

    @Test
    func `merged states don't extend the grace period if only one process noticed that the clock was turned back`() {
        let base = state()
        var seen = base
        let earlier = InventedApp.now.addingTimeInterval(-InventedApp.day)
        seen.time.observe(clock: earlier)
        for (mine, stored) in [(seen, base), (base, seen)] {
            let time = mine.merging(stored, base: base, at: earlier).time
            #expect(time.age(earlier) == 0)
            #expect(!time.isImpossible)
        }
    }

    @Test func `merged states remember that StoreKit still shows another account's app transaction`() {
        let base = state()
        var (noticed, bought) = (base, base)
        noticed.account.staleAppTransactionID = "704000000000000009"
        bought.account.add([InventedApp.purchase()])
        for (mine, stored) in [(noticed, bought), (bought, noticed)] {
            #expect(merged(mine, stored, base: base).account.staleAppTransactionID == "704000000000000009")
        }
    }

    @Test func `merged states remember a delivered transaction until one of the processes has finished it`() {
        var base = state()
        base.account.deliveredTransactions = ["1", "2"]
        var (mine, stored) = (base, base)
        mine.account.deliveredTransactions = ["2", "3"]
        stored.account.deliveredTransactions = ["1", "2", "4"]
        for result in [merged(mine, stored, base: base), merged(stored, mine, base: base)] {
            #expect(result.account.deliveredTransactions == ["2", "3", "4"])
        }
    }

    @Test func `merged states take the list of refused transactions from the service's later response`() {
        var base = Account()
        base.add([InventedApp.purchase(id: "1")])
        var (mine, stored) = (base, base)
        (mine.answeredAt, mine.sentEverything) = (InventedApp.now, true)
        (stored.answeredAt, stored.refusedTransactions) = (InventedApp.now.addingTimeInterval(60), ["1"])
        for merged in [mine.merging(stored, base: base), stored.merging(mine, base: base)] {
            #expect(merged.refusedTransactions == ["1"] && !merged.sentEverything)
        }
        (mine.answeredAt, stored.answeredAt) = (stored.answeredAt, mine.answeredAt)
        for merged in [mine.merging(stored, base: base), stored.merging(mine, base: base)] {
            #expect(merged.refusedTransactions.isEmpty && merged.sentEverything)
        }
    }
}

extension StoredState {
    /// The facts that don't depend on the order of merges.
    fileprivate var growing: StoredState {
        var state = self
        state.account.denials = []
        state.account.answeredAt = nil
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
