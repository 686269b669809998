import CalculatorSeller
import Foundation
import TenureAppStore
import TenureCore
import Testing

@testable import LocalAppStore

/// Fields of signed transactions, renewal info and app transactions that developers' servers read.
@Suite struct `signed fields of the local App Store` {
    private func transaction(
        _ index: Int, in state: AppStoreState
    ) throws -> TransactionPayload {
        let jws = try Shop.signer.transaction(state.transactions[index], in: state)
        return try Shop.verifier.verifyTransaction(Array(jws.utf8), now: nil).payload
    }

    @Test func `a signed transaction has the type, name, discount and length of its offer`() throws {
        var state = try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z")
        try state.buy(Shop.monthly, "Ada")
        let trial = try transaction(0, in: state)
        #expect(trial.offerType?.known == .introductory && trial.offerIdentifier == nil)
        #expect(trial.offerDiscountType?.rawValue == "FREE_TRIAL" && trial.offerPeriod == "P1W")
        #expect(trial.price == 0)
        try state.setAutoRenew(false, "Ada", Shop.monthly)
        state.advance(to: Shop.date("2026-02-01"))
        try state.buy(Shop.monthly, "Ada", offer: "comeback")
        let winBack = try transaction(1, in: state)
        #expect(winBack.offerType?.known == .winBack && winBack.offerIdentifier == "comeback")
        #expect(winBack.offerDiscountType?.rawValue == "PAY_AS_YOU_GO" && winBack.offerPeriod == "P1M")
        #expect(winBack.price == 990)
        let renewal = try #require(try state.lastNotification().renewalInfo).payload
        #expect(renewal.offerType?.known == .winBack && renewal.offerIdentifier == "comeback")
        #expect(renewal.renewalPrice == 990)
        try state.setAutoRenew(false, "Ada", Shop.monthly)
        state.advance(to: Shop.date("2026-04-01"))
        try state.buy(Shop.monthly, "Ada", offer: "thanks")
        let promotional = try transaction(state.transactions.count - 1, in: state)
        #expect(promotional.offerType?.known == .promotional && promotional.offerIdentifier == "thanks")
        #expect(promotional.offerDiscountType?.rawValue == "PAY_UP_FRONT" && promotional.offerPeriod == "P3M")
        // An offer that is paid up front has no further payments.
        let paid = try #require(try state.lastNotification().renewalInfo).payload
        #expect(paid.offerIdentifier == nil && paid.renewalPrice == 1990)
        #expect(promotional.originalPurchaseDate == Shop.date("2026-01-10T12:00:00Z"))
        #expect(promotional.originalTransactionID == trial.transactionID)
    }

    @Test func `a subscription has the customer's account token in every transaction, even after it began again`()
        throws
    {
        let text = "0e3a2a3c-0000-4000-8000-000000000001"
        let token = try #require(UUID(uuidString: text))
        var state = try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z")
        try state.buy(Shop.monthly, "Ada", appAccountToken: token)
        try state.changePlan("Ada", to: Shop.pro, as: .upgrade)
        state.advance(to: Shop.date("2026-02-20"))
        try state.setAutoRenew(false, "Ada", Shop.pro)
        state.advance(to: Shop.date("2026-04-01"))
        try state.buy(Shop.pro, "Ada")
        #expect(state.transactions.count == 4)
        for index in state.transactions.indices {
            #expect(try transaction(index, in: state).appAccountToken == text, "\(index)")
        }
        #expect(try state.lastNotification().renewalInfo?.payload.appAccountToken == text)
    }

    @Test func `an app transaction for a server has no revocation date, version of the device or device hash`() throws {
        var state = try Shop.state(of: "Ada")
        try state.refundApp("Ada")
        let jws = try Shop.signer.appTransaction(state.acquisitions[0], in: state, for: .server)
        let payload = try Shop.verifier.verifyAppTransaction(Array(jws.utf8), from: .appStoreServer, now: nil).payload
        #expect(payload.revocationDate == nil && payload.applicationVersion == nil)
        #expect(payload.versionExternalIdentifier == nil && payload.deviceVerification == nil)
        #expect(payload.originalApplicationVersion == "37" && payload.appAppleID == 828_838_134)
        #expect(try Shop.payload(state, "Ada").revocationDate == state.now)
    }

    @Test func `a customer who moves pays in the new storefront's currency, and earlier purchases keep theirs`() throws
    {
        var state = try Shop.state(of: "Ada")
        try state.buy(Shop.coins, "Ada")
        try state.move("Ada", to: "DEU")
        try state.buy(Shop.everything, "Ada")
        let (before, after) = (try transaction(0, in: state), try transaction(1, in: state))
        #expect(before.currency == "USD" && before.storefront == "USA" && before.storefrontID == "143441")
        #expect(after.currency == "EUR" && after.storefront == "DEU" && after.price == 10_990)
    }

    @Test func `a higher price that needs no consent applies at the next renewal, only to subscribers who renew`()
        throws
    {
        var state = Shop.state(at: "2026-01-10T12:00:00Z")
        for (name, product) in [("Ada", Shop.monthly), ("Ben", Shop.monthly), ("Cleo", Shop.pro)] {
            try state.addCustomer(name)
            try state.acquire(name)
            try state.buy(product, name)
        }
        try state.setAutoRenew(false, "Ben", Shop.monthly)
        let sent = state.notifications.count
        try state.perform(
            AppStoreOperation(.raisePrice, [.product: Shop.monthly, .price: "2.99", .needsConsent: "false"]))
        #expect(state.notificationNames(since: sent) == ["PRICE_INCREASE/ACCEPTED"])
        let told = try state.lastNotification()
        #expect(told.transaction?.payload.appTransactionID == state.id(of: state.acquisitions[0]))
        #expect(told.renewalInfo?.payload.priceIncreaseStatus?.known == .accepted)
        #expect(told.renewalInfo?.payload.renewalPrice == 2990)
        state.advance(to: Shop.date("2026-01-18"))
        #expect(state.transactions.last?.price == 2990)
        let jws = try Shop.signer.renewalInfo(state.subscriptions[0], in: state)
        let renewed = try Shop.verifier.verifyRenewalInfo(Array(jws.utf8), now: nil).payload
        #expect(renewed.priceIncreaseStatus == nil && renewed.renewalPrice == 2990)
        #expect(try state.entitledProducts(of: "Ada") == [Shop.monthly])
    }

    @Test func `subscription groups of two apps are independent, even if they have the same name`() throws {
        func app(_ bundleID: String) -> AppStoreApp {
            AppStoreApp(
                bundleID: bundleID, appAppleID: 1,
                releases: [
                    AppStoreRelease(platform: .iOS, build: "1", version: "1.0", releasedAt: Shop.date("2014-01-10"))
                ], prices: [],
                products: [
                    AppStoreProduct(
                        id: bundleID + ".plan", type: .autoRenewable, price: 990, group: "plans", level: 1,
                        period: CalendarPeriod(months: 1),
                        offers: [
                            SubscriptionOffer(
                                type: .introductory, discount: .freeTrial, period: CalendarPeriod(days: 7))
                        ])
                ])
        }
        var state = AppStoreState(
            seed: "groups", startingAt: Shop.date("2026-01-10T12:00:00Z"),
            apps: [app("com.example.one"), app("com.example.two")])
        try state.addCustomer("Ada")
        for name in ["com.example.one", "com.example.two"] {
            try state.acquire("Ada", app: name)
            try state.buy(name + ".plan", "Ada")
        }
        #expect(state.notificationNames() == ["SUBSCRIBED/INITIAL_BUY", "SUBSCRIBED/INITIAL_BUY"])
        #expect(state.transactions.map(\.originalTransaction) == [0, 1])
        #expect(state.transactions.map(\.price) == [0, 0], "each app has its own trial")
        try state.setAutoRenew(false, "Ada", "com.example.one.plan")
        state.advance(to: Shop.date("2026-01-18"))
        #expect(try state.entitledProducts(of: "Ada") == ["com.example.two.plan"])
        try state.buy("com.example.one.plan", "Ada")
        #expect(try state.entitledProducts(of: "Ada") == ["com.example.one.plan", "com.example.two.plan"])
    }
}
