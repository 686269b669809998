import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `Answers and facts of merged states` {
    private let base = StoredState(clock: InventedApp.now)

    private func merged(_ mine: StoredState, _ stored: StoredState) -> StoredState {
        mine.merging(stored, base: base, at: InventedApp.now)
    }

    @Test func `merged states have the later of the service's two lists of products`() {
        let older = CachedCatalog(text: "older", fetchedAt: InventedApp.now)
        let newer = CachedCatalog(text: "newer", fetchedAt: InventedApp.now.addingTimeInterval(1))
        for (first, second, expected) in [(older, newer, newer), (nil, older, older), (nil, nil, nil)]
            as [(CachedCatalog?, CachedCatalog?, CachedCatalog?)]
        {
            var (mine, stored) = (base, base)
            (mine.catalog, stored.catalog) = (first, second)
            #expect(merged(mine, stored).catalog == expected)
            #expect(merged(stored, mine).catalog == expected)
        }
    }

    @Test func `merged states know every private state that a process has moved`() {
        var (mine, stored) = (base, base)
        #expect(merged(mine, stored).moved == nil)
        (mine.moved, stored.moved) = (["b"], ["c", "a"])
        #expect(merged(mine, stored).moved == ["a", "b", "c"])
        #expect(merged(mine, base).moved == ["b"] && merged(base, stored).moved == ["a", "c"])
    }

    @Test func `merged states keep this process's device and distribution, or else the stored ones`() {
        var (mine, stored) = (base, base)
        (stored.device, stored.distribution) = ("stored", "testFlight")
        #expect(merged(mine, stored).device == "stored" && merged(mine, stored).distribution == "testFlight")
        (mine.device, mine.distribution) = ("mine", "appStore")
        #expect(merged(mine, stored).device == "mine" && merged(mine, stored).distribution == "appStore")
    }

    @Test func `a process doesn't take the service's response about another persona, even if it came later`() {
        var (mine, stored) = (Account(), Account())
        (mine.persona, mine.entitlementToken, mine.answeredAt) = ("tester", "mine", InventedApp.now)
        (stored.entitlementToken, stored.answeredAt) = ("stored", InventedApp.now.addingTimeInterval(60))
        let merged = mine.merging(stored, base: Account())
        #expect(merged.persona == "tester" && merged.entitlementToken == "mine")
        let other = stored.merging(mine, base: Account())
        #expect(other.persona == nil && other.entitlementToken == "stored")
    }

    @Test func `a transaction is unanswered in merged states unless one of the processes got an answer about it`() {
        var base = Account()
        base.add([InventedApp.purchase(id: "1"), InventedApp.purchase(id: "2")])
        var (answered, bought) = (base, base)
        answered.unansweredTransactions = ["2"]
        bought.add([InventedApp.purchase(id: "3")])
        #expect(answered.merging(bought, base: base).unansweredTransactions == ["2", "3"])
        #expect(bought.merging(answered, base: base).unansweredTransactions == ["2", "3"])
    }

    @Test func `an answered transaction that changes in one process is unanswered again in merged states`() {
        var base = Account()
        base.add([InventedApp.purchase(id: "1"), InventedApp.purchase(id: "2")])
        base.unansweredTransactions = []
        var (refunded, bought) = (base, base)
        refunded.add([InventedApp.purchase(id: "1", revoked: InventedApp.now, signed: InventedApp.now)])
        bought.add([InventedApp.purchase(id: "3")])
        #expect(refunded.unansweredTransactions == ["1"])
        #expect(refunded.merging(bought, base: base).unansweredTransactions == ["1", "3"])
        #expect(bought.merging(refunded, base: base).unansweredTransactions == ["1", "3"])
    }
}
