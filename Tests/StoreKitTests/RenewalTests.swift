import CalculatorSeller
import Foundation
import LocalAppStore
import TenureCore
import Testing

@testable import StoreKit

/// What an app reads about the next renewal of a subscription, and about the options of a purchase.
@Suite(.timeLimit(.minutes(2))) struct RenewalTests {
    private func product(_ id: String) async throws -> Product {
        try #require(try await Product.products(for: [id]).first)
    }

    private func renewal() async throws -> Product.SubscriptionInfo.RenewalInfo {
        try #require(try await Product.SubscriptionInfo.status(for: Kiosk.group).first).renewalInfo.payloadValue
    }

    @Test func `renewal info has the plan and price of the next period until the customer cancels`() async throws {
        let kiosk = try await Kiosk()
        let token = "5b1c1d8e-34c0-4f5a-9b51-0d2a3f0f7c11"
        try await kiosk.operation(.buy, "Ada", [.product: Kiosk.monthly, .appAccountToken: token])
        try await kiosk.device().run {
            let bought = try #require(await StoreKit.Transaction.latest(for: Kiosk.monthly)).payloadValue
            let running = try await renewal()
            #expect(running.originalTransactionID == bought.originalID)
            #expect(running.appTransactionID == bought.appTransactionID && !running.appTransactionID.isEmpty)
            #expect(running.currentProductID == Kiosk.monthly && running.autoRenewPreference == Kiosk.monthly)
            #expect(running.willAutoRenew && !running.isInBillingRetry)
            #expect(running.renewalDate == Kiosk.date("2014-09-13T10:00:00Z"))
            #expect(running.recentSubscriptionStartDate == Kiosk.date("2014-09-06T10:00:00Z"))
            #expect(running.renewalPrice == Decimal(string: "1.99"))
            #expect(running.currency?.identifier.uppercased() == "USD")
            #expect(running.expirationReason == nil && running.priceIncreaseStatus == .noIncreasePending)
            #expect(running.eligibleWinBackOfferIDs.isEmpty && running.gracePeriodExpirationDate == nil)
            #expect(running.appAccountToken == UUID(uuidString: token))
            try await kiosk.operation(.cancel, "Ada", [.product: Kiosk.monthly])
            let canceled = try await renewal()
            #expect(!canceled.willAutoRenew && canceled.autoRenewPreference == nil)
            #expect(canceled.renewalPrice == nil && canceled.currency == nil && canceled.expirationReason == nil)
            try await kiosk.advance("40d")
            let ended = try await renewal()
            #expect(ended.currentProductID == Kiosk.monthly)
            #expect(ended.expirationReason == .autoRenewDisabled)
            #expect(ended.eligibleWinBackOfferIDs == ["comeback"])
        }
    }

    @Test func `renewal info has the reason of a failed renewal, and the customer's answer to a higher price`()
        async throws
    {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.pro)
        try await kiosk.device().run {
            try await kiosk.operation(
                .raisePrice, nil, [.product: Kiosk.pro, .price: "6.99", .needsConsent: "true"])
            #expect(try await renewal().priceIncreaseStatus == .pending)
            try await kiosk.operation(.consent, "Ada", [.product: Kiosk.pro])
            #expect(try await renewal().priceIncreaseStatus == .agreed)
            try await kiosk.operation(.failBilling, "Ada")
            try await kiosk.advance("35d")
            #expect(try await renewal().expirationReason == .billingError)
            #expect(try await renewal().isInBillingRetry)
        }
    }

    @Test func `a quantity is from 1 to 10, and only for consumables and non-renewing subscriptions`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.device().run {
            for (id, quantity) in [(Kiosk.coins, 1), (Kiosk.coins, 10), (Kiosk.season, 2), (Kiosk.everything, 1)] {
                let result = try await product(id).purchase(options: [.quantity(quantity)])
                guard case .success(.verified(let bought)) = result else { throw Unexpected() }
                #expect(bought.purchasedQuantity == quantity, "\(id)")
            }
            for (id, quantity) in [
                (Kiosk.coins, 0), (Kiosk.coins, 11), (Kiosk.coins, -1), (Kiosk.pro, 2), (Kiosk.everything, 2),
            ] {
                let product = try await product(id)
                await #expect(throws: Product.PurchaseError.invalidQuantity, "\(id) \(quantity)") {
                    try await product.purchase(options: [.quantity(quantity)])
                }
            }
            #expect(await kiosk.store.state.transactions.count == 4)
        }
    }

    @Test func `a purchase throws if its win-back offer has no ID`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.device().run {
            let monthly = try await product(Kiosk.monthly)
            let introductory = try #require(monthly.subscription?.introductoryOffer)
            await #expect(throws: Product.PurchaseError.missingOfferParameters) {
                try await monthly.purchase(options: [.winBackOffer(introductory)])
            }
        }
    }

    @Test func `a subscriber is still eligible for the introductory offers of other groups`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.buy(Kiosk.pro)
        try await kiosk.device().run {
            #expect(await !Product.SubscriptionInfo.isEligibleForIntroOffer(for: Kiosk.group))
            #expect(await Product.SubscriptionInfo.isEligibleForIntroOffer(for: "another"))
        }
    }

    @Test func `each offer has its price, and its number of periods if it is paid as you go`() async throws {
        let kiosk = try await Kiosk()
        try await kiosk.device().run {
            let plan = try #require(try await product(Kiosk.monthly).subscription)
            let trial = try #require(plan.introductoryOffer)
            #expect(trial.id == nil && trial.type == .introductory && trial.price == 0 && trial.periodCount == 1)
            let thanks = try #require(plan.promotionalOffers.first)
            #expect(thanks.paymentMode == .payUpFront && thanks.period == .everyThreeMonths && thanks.periodCount == 1)
            #expect(thanks.price == Decimal(string: "2.99") && thanks.displayPrice == "$2.99")
            let comeback = try #require(plan.winBackOffers.first)
            #expect(comeback.id == "comeback" && comeback.type == .winBack && comeback.paymentMode == .payAsYouGo)
            #expect(comeback.price == Decimal(string: "0.99") && comeback.periodCount == 2)
        }
    }

    private static let periods: [(String, Product.SubscriptionPeriod?)] = [
        ("P3D", .everyThreeDays), ("P7D", .weekly), ("P10D", Product.SubscriptionPeriod(10, .day)),
        ("P2W", .everyTwoWeeks), ("P1M", .monthly), ("P6M", .everySixMonths), ("P12M", .yearly),
        ("P18M", Product.SubscriptionPeriod(18, .month)), ("P2Y", Product.SubscriptionPeriod(2, .year)),
        ("P1M3D", nil), ("1 month", nil),
    ]

    @Test(arguments: periods)
    func `a period has the largest unit in which it is a whole number`(
        text: String, period: Product.SubscriptionPeriod?
    ) {
        #expect(Product.SubscriptionPeriod(iso8601: text) == period)
    }

    @Test func `an app transaction has the date of a pre-order and the number of the installed version`() async throws {
        let kiosk = try await Kiosk(owner: nil)
        try await kiosk.operation(.customer, "Ida")
        try await kiosk.operation(.acquire, "Ida", [.preordered: "2014-08-01"])
        try await kiosk.device("Ida").run {
            let before = try await AppTransaction.shared.payloadValue
            #expect(before.preorderDate == Kiosk.date("2014-08-01"))
            #expect(before.originalPurchaseDate == Kiosk.date("2014-09-06T10:00:00Z"))
            let old = try #require(before.appVersionID)
            try await kiosk.advance("365d")
            try await kiosk.operation(.update, "Ida")
            try await AppStore.sync()
            let new = try #require(try await AppTransaction.shared.payloadValue.appVersionID)
            #expect(new != old)
        }
    }
}
