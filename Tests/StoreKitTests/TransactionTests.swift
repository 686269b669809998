import CalculatorSeller
import Foundation
import LocalAppStore
import StoreKit
import Testing

@Suite struct TransactionTests {
    @Test func `currentEntitlements are non-consumables, active subscriptions and all non-renewing subscriptions`()
        async throws
    {
        let kiosk = try await Kiosk()
        for product in [Kiosk.everything, Kiosk.coins, Kiosk.season, Kiosk.pro] { try await kiosk.buy(product) }
        try await kiosk.advance("20d")
        let device = try await kiosk.device()
        await device.run {
            #expect(await entitledProducts() == [Kiosk.everything, Kiosk.pro, Kiosk.season].sorted())
        }
        try await kiosk.operation(.cancel, "Ada", [.product: Kiosk.pro])
        try await kiosk.advance("900d")
        await device.run { #expect(await entitledProducts() == [Kiosk.everything, Kiosk.season].sorted()) }
    }

    @Test func `a refunded purchase isn't an entitlement, and stays in the history`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.everything)
        try await kiosk.operation(.refund, "Ada", [.product: Kiosk.everything, .reason: "issueInTheApp"])
        try await kiosk.device().run {
            #expect(await entitledProducts().isEmpty)
            let latest = try #require(await StoreKit.Transaction.latest(for: Kiosk.everything)).payloadValue
            #expect(latest.revocationDate != nil)
            #expect(latest.revocationReason == .developerIssue)
        }
    }

    @Test func `an upgrade replaces the active subscription`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.monthly)
        try await kiosk.advance("2d")
        try await kiosk.operation(.upgrade, "Ada", [.product: Kiosk.pro])
        try await kiosk.device().run {
            #expect(await entitledProducts() == [Kiosk.pro])
            let old = try #require(await StoreKit.Transaction.latest(for: Kiosk.monthly)).payloadValue
            #expect(old.isUpgraded)
            #expect(old.offer?.type == .introductory)
            #expect(old.offer?.paymentMode == .freeTrial)
            #expect(old.offer?.period == .weekly)
        }
    }

    @Test(arguments: [nil, 16])
    func `a subscription stays an entitlement during a billing grace period, if the app has one`(days: Int?)
        async throws
    {
        let kiosk = try await Kiosk(gracePeriodDays: days)
        try await kiosk.buy(Kiosk.pro)
        try await kiosk.operation(.failBilling, "Ada")
        try await kiosk.advance("35d")
        let device = try await kiosk.device()
        try await device.run {
            #expect(await entitledProducts() == (days == nil ? [] : [Kiosk.pro]))
            let status = try #require(try await Product.SubscriptionInfo.status(for: Kiosk.group).first)
            #expect(status.state == (days == nil ? .inBillingRetryPeriod : .inGracePeriod))
            #expect(try status.renewalInfo.payloadValue.isInBillingRetry)
            #expect((try status.renewalInfo.payloadValue.gracePeriodExpirationDate != nil) == (days != nil))
        }
        try await kiosk.advance("20d")
        await device.run { #expect(await entitledProducts().isEmpty) }
    }

    @Test func `an offline device notices the end of a subscription period by its clock`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.pro)
        try await kiosk.buy(Kiosk.everything)
        let device = try await kiosk.device()
        device.behavior.isOffline = true
        await device.run { #expect(await entitledProducts() == [Kiosk.everything, Kiosk.pro].sorted()) }
        try await kiosk.advance("60d")
        try await device.run { () async throws -> Void in
            #expect(await entitledProducts() == [Kiosk.everything])
            #expect(try await Product.SubscriptionInfo.status(for: Kiosk.group).map(\.state) == [.expired])
            device.behavior.isOffline = false
            #expect(await entitledProducts() == [Kiosk.everything, Kiosk.pro].sorted())
        }
    }

    @Test func `an offline device notices the end of a billing grace period by its clock`() async throws {
        let kiosk = try await Kiosk(gracePeriodDays: 16)
        try await kiosk.buy(Kiosk.pro)
        try await kiosk.operation(.failBilling, "Ada")
        try await kiosk.advance("35d")
        let device = try await kiosk.device()
        device.behavior.isOffline = true
        await device.run { #expect(await entitledProducts() == [Kiosk.pro]) }
        try await kiosk.advance("20d")
        try await device.run { () async throws -> Void in
            #expect(await entitledProducts().isEmpty)
            let states = try await Product.SubscriptionInfo.status(for: Kiosk.group).map(\.state)
            #expect(states == [.inBillingRetryPeriod])
        }
    }

    @Test func `the device keeps its signed copies of transactions until AppStore.sync gets newly signed copies`()
        async throws
    {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.everything)
        try await kiosk.device().run {
            let first = await StoreKit.Transaction.latest(for: Kiosk.everything)
            try await kiosk.advance("2d")
            #expect(await StoreKit.Transaction.latest(for: Kiosk.everything) == first)
            try await AppStore.sync()
            let latest = try #require(await StoreKit.Transaction.latest(for: Kiosk.everything))
            #expect(latest.signedDate == Kiosk.date("2014-09-08T10:00:00Z"))
            #expect(latest.unsafePayloadValue.id == first?.unsafePayloadValue.id)
        }
    }

    @Test func `a shared product is an entitlement until the purchaser stops sharing`() async throws {
        let kiosk = try await Kiosk(owner: nil)
        for name in ["Ada", "Ben"] {
            try await kiosk.operation(.customer, name, [.family: "Lovelace"])
            try await kiosk.operation(.acquire, name)
        }
        try await kiosk.buy(Kiosk.everything)
        try await kiosk.operation(.share, "Ada", [.product: Kiosk.everything])
        let device = try await kiosk.device("Ben")
        try await device.run {
            let shared = try #require(await StoreKit.Transaction.currentEntitlement(for: Kiosk.everything))
            #expect(try shared.payloadValue.ownershipType == .familyShared)
            try await kiosk.operation(.unshare, "Ada", [.product: Kiosk.everything])
            #expect(await entitledProducts().isEmpty)
        }
    }

    @Test func `a transaction is unfinished until the app finishes it, and a finished consumable leaves the history`()
        async throws
    {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.coins)
        let device = try await kiosk.device()
        await device.run {
            var unfinished: [StoreKit.Transaction] = []
            for await result in StoreKit.Transaction.unfinished { unfinished.append(result.unsafePayloadValue) }
            #expect(unfinished.map(\.productID) == [Kiosk.coins])
            // An offline device remembers that the transaction is finished, and reports it later.
            device.behavior.isOffline = true
            await unfinished.first?.finish()
            for await _ in StoreKit.Transaction.unfinished { Issue.record("it was finished") }
            device.behavior.isOffline = false
            for await _ in StoreKit.Transaction.all { Issue.record("a finished consumable isn't kept") }
            #expect(await kiosk.store.state.transactions[0].isFinished)
        }
    }

    @Test func `a purchase has its owner, storefront, price and account token`() async throws {
        let kiosk = try await Kiosk(owner: nil)
        try await kiosk.operation(.customer, "Ida", [.storefront: "DEU"])
        try await kiosk.operation(.acquire, "Ida")
        let token = "5b1c1d8e-34c0-4f5a-9b51-0d2a3f0f7c11"
        try await kiosk.operation(.buy, "Ida", [.product: Kiosk.everything, .appAccountToken: token])
        try await kiosk.device("Ida").run {
            let transaction = try #require(await StoreKit.Transaction.latest(for: Kiosk.everything)).payloadValue
            #expect(transaction.appAccountToken == UUID(uuidString: token))
            #expect(transaction.storefront.countryCode == "DEU")
            #expect(transaction.storefront.id == "143443")
            #expect(transaction.price == Decimal(string: "10.99"))
            #expect(transaction.currency?.identifier.uppercased() == "EUR")
            #expect(transaction.productType == .nonConsumable)
            #expect(transaction.reason == .purchase)
            #expect(transaction.ownershipType == .purchased)
            #expect(transaction.id == transaction.originalID)
            #expect(transaction.purchasedQuantity == 1)
            #expect(transaction.expirationDate == nil)
            #expect(try await transaction.appTransactionID == AppTransaction.shared.payloadValue.appTransactionID)
            #expect(await StoreKit.Storefront.current?.countryCode == "DEU")
        }
    }
}
