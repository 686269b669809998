import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite(.timeLimit(.minutes(1))) struct `More purchases than a device stores` {
    /// 5,000 coins, bought one minute after the other, until an hour ago.
    private static let coins = (0..<5000).map { index in
        InventedApp.purchase(
            ServedStore.coins, id: "42000000000\(10000 + index)", type: .consumable,
            bought: InventedApp.now.addingTimeInterval(Double(index - 5000) * 60 - 3600))
    }

    @Test func `a device with more purchases than it stores accepts the next purchase, even after an offline relaunch`()
        async throws
    {
        let device = Device(
            FakeStore {
                $0.app = InventedApp.newcomer()
                $0.transactions = Self.coins
            }, policy: InventedApp.policy(whileUndetermined: .deny))
        let tenure = device.start()
        #expect(await !tenure.allows("everything"))
        device.store.deliverUpdate(InventedApp.purchase())
        for await customer in tenure.updates where customer.has("everything") { break }
        device.store.change { state in
            state.appBehavior = .throwsAnError
            state.transactionsBehavior = .throwsAnError
        }
        #expect(await device.start().settled().has("everything"))
    }

    @Test func `a device with too many purchases drops the oldest consumables first`() {
        var account = Account()
        account.add([InventedApp.purchase(id: "1", bought: InventedApp.date("2015-01-01"))])
        account.add(Self.coins)
        #expect(account.purchases.count == 5000)
        #expect(account.purchases.contains { $0.transactionID == "1" })
        #expect(!account.purchases.contains { $0.transactionID == Self.coins[0].purchase.transactionID })
        #expect(account.purchases.contains { $0.transactionID == Self.coins[4999].purchase.transactionID })
        var other = Account()
        other.add(Self.coins.reversed())
        other.add([InventedApp.purchase(id: "1", bought: InventedApp.date("2015-01-01"))])
        #expect(other.purchases == account.purchases)
        // A dropped purchase isn't new when StoreKit lists it again.
        let isNew = account.add(Self.coins)
        #expect(!isNew)
    }
}
