import CalculatorSeller
import Foundation
import TenureAppStore
import TenureCore
import Testing

@testable import LocalAppStore

/// Ada has had the app and a monthly plan since noon on January 10, 2026. Its trial ended on January 17.
private func subscribed(gracePeriodDays: Int? = nil) throws -> AppStoreState {
    var state = try Shop.state(of: "Ada", at: "2026-01-10T12:00:00Z", gracePeriodDays: gracePeriodDays)
    try state.buy(Shop.monthly, "Ada")
    state.advance(to: Shop.date("2026-01-20"))
    return state
}

@Test func `a first subscription begins with its trial, and renews when the trial ends`() throws {
    let state = try subscribed()
    #expect(state.notificationNames() == ["SUBSCRIBED/INITIAL_BUY", "DID_RENEW"])
    #expect(state.transactions.map(\.price) == [0, 1990])
    #expect(
        state.transactions.map(\.purchaseDate) == [
            Shop.date("2026-01-10T12:00:00Z"), Shop.date("2026-01-17T12:00:00Z"),
        ])
    #expect(state.transactions[1].expiresDate == Shop.date("2026-02-17T12:00:00Z"))
    // A renewal is charged and signed before its period begins.
    let notification = try state.lastNotification()
    let transaction = try #require(notification.transaction).payload
    #expect(try #require(transaction.signedDate) < #require(transaction.purchaseDate))
    #expect(transaction.transactionReason?.known == .renewal)
    #expect(transaction.originalTransactionID == state.id(of: state.transactions[0]))
    #expect(notification.notification.payload.data?.status?.known == .active)
    #expect(notification.renewalInfo?.payload.renewalPrice == 1990)
}

@Test func `a canceled subscription runs until its end, and can be bought again`() throws {
    var state = try subscribed()
    try state.setAutoRenew(false, "Ada", Shop.monthly)
    #expect(try state.lastNotification().renewalInfo?.payload.autoRenewStatus?.known == .off)
    #expect(try state.lastNotification().renewalInfo?.payload.renewalPrice == nil)
    state.advance(to: Shop.date("2026-02-17T12:00:00Z"))
    let expired = try state.lastNotification()
    #expect(expired.notification.payload.data?.status?.known == .expired)
    #expect(expired.renewalInfo?.payload.expirationIntent?.known == .customerCancelled)
    #expect(expired.renewalInfo?.payload.isInBillingRetryPeriod == false)
    state.advance(to: Shop.date("2026-03-01"))
    try state.buy(Shop.monthly, "Ada")
    #expect(
        state.notificationNames(since: 2) == [
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY", "SUBSCRIBED/RESUBSCRIBE",
        ])
    // Only customers who never subscribed get the trial.
    #expect(state.transactions.last?.offer == nil)
    #expect(state.transactions.last?.originalTransaction == 0)
}

@Test func `a subscription that was interrupted for sixty days at most keeps its recent start date`() throws {
    var state = try subscribed()
    func startDate() throws -> Date? { try state.lastNotification().renewalInfo?.payload.recentSubscriptionStartDate }
    try state.setAutoRenew(false, "Ada", Shop.monthly)
    // It ended on February 17, and begins again sixty days later.
    state.advance(to: Shop.date("2026-04-18T12:00:00Z"))
    try state.buy(Shop.monthly, "Ada")
    #expect(try startDate() == Shop.date("2026-01-10T12:00:00Z"))
    try state.setAutoRenew(false, "Ada", Shop.monthly)
    state.advance(to: Shop.date("2026-07-17T12:00:01Z"))
    try state.buy(Shop.monthly, "Ada")
    #expect(try startDate() == Shop.date("2026-07-17T12:00:01Z"))
}

@Test func `a subscription renews after its renewal is switched on again`() throws {
    var state = try subscribed()
    try state.setAutoRenew(false, "Ada", Shop.monthly)
    try state.setAutoRenew(true, "Ada", Shop.monthly)
    state.advance(to: Shop.date("2026-02-20"))
    #expect(
        state.notificationNames(since: 2) == [
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED",
            "DID_RENEW",
        ])
}

@Test func `a failed renewal without a grace period ends access, and billing retry ends after sixty days`() throws {
    var state = try subscribed()
    try state.setBillingWorks(false, of: "Ada")
    state.advance(to: Shop.date("2026-02-18"))
    let failed = try state.lastNotification()
    #expect(failed.notification.payload.data?.status?.known == .billingRetry)
    #expect(failed.renewalInfo?.payload.isInBillingRetryPeriod == true)
    #expect(failed.renewalInfo?.payload.gracePeriodExpiresDate == nil)
    state.advance(to: Shop.date("2026-06-01"))
    #expect(state.notificationNames(since: 2) == ["DID_FAIL_TO_RENEW", "EXPIRED/BILLING_RETRY"])
    #expect(state.notifications.last?.date == Shop.date("2026-04-18T12:00:00Z"))
    #expect(try state.lastNotification().renewalInfo?.payload.expirationIntent?.known == .billingError)
}

@Test func `a payment within the grace period continues the subscription from the failed renewal's date`() throws {
    var state = try subscribed(gracePeriodDays: 16)
    try state.setBillingWorks(false, of: "Ada")
    state.advance(to: Shop.date("2026-02-20"))
    let grace = try state.lastNotification()
    #expect(grace.notification.payload.data?.status?.known == .gracePeriod)
    #expect(grace.renewalInfo?.payload.gracePeriodExpiresDate == Shop.date("2026-03-05T12:00:00Z"))

    try state.recover("Ada", Shop.monthly)
    #expect(state.notificationNames(since: 2) == ["DID_FAIL_TO_RENEW/GRACE_PERIOD", "DID_RENEW/BILLING_RECOVERY"])
    #expect(state.transactions.last?.purchaseDate == Shop.date("2026-02-17T12:00:00Z"))
}

@Test func `a payment after the grace period begins a new period at its own date, and ends billing retry`() throws {
    var state = try subscribed(gracePeriodDays: 16)
    try state.setBillingWorks(false, of: "Ada")
    state.advance(to: Shop.date("2026-03-10"))
    #expect(state.notificationNames(since: 2) == ["DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED"])
    #expect(try state.lastNotification().notification.payload.data?.status?.known == .billingRetry)
    try state.recover("Ada", Shop.monthly)
    #expect(state.transactions.last?.purchaseDate == Shop.date("2026-03-10"))
    state.advance(to: Shop.date("2026-06-01"))
    #expect(!state.notificationNames().contains("EXPIRED/BILLING_RETRY"))
}

@Test func `a payment that works again renews every due subscription of the account that renews automatically`() throws
{
    let news = "com.example.calculator.news"
    func recovered(canceling product: String?) throws -> [String: Bool] {
        var app = Shop.app()
        app.products.append(
            AppStoreProduct(
                id: news, type: .autoRenewable, price: 990, group: "news", level: 1, period: CalendarPeriod(months: 1)))
        var state = AppStoreState(seed: "tests", startingAt: Shop.date("2026-01-10T12:00:00Z"), apps: [app])
        try state.addCustomer("Ada")
        try state.acquire("Ada")
        try state.buy(Shop.monthly, "Ada")
        try state.buy(news, "Ada")
        try state.setBillingWorks(false, of: "Ada")
        state.advance(to: Shop.date("2026-03-10"))
        if let product { try state.setAutoRenew(false, "Ada", product) }
        try state.recover("Ada", Shop.monthly)
        return [
            Shop.monthly: state.subscriptions[try state.subscription("Ada", Shop.monthly)].state == .active,
            news: state.subscriptions[try state.subscription("Ada", news)].state == .active,
        ]
    }
    #expect(try recovered(canceling: nil) == [Shop.monthly: true, news: true])
    #expect(try recovered(canceling: news) == [Shop.monthly: true, news: false])
    #expect(try recovered(canceling: Shop.monthly) == [Shop.monthly: false, news: true])
}

@Test func `a subscription upgrade applies at once, and a downgrade waits and can be canceled`() throws {
    var state = try subscribed()
    try state.changePlan("Ada", to: Shop.pro, as: .upgrade)
    let upgraded = try state.lastNotification()
    #expect(upgraded.transaction?.payload.productID == Shop.pro)
    #expect(upgraded.renewalInfo?.payload.renewalPrice == 4990)
    #expect(upgraded.transaction?.payload.purchaseDate == Shop.date("2026-01-20"))
    #expect(upgraded.transaction?.payload.originalTransactionID == state.id(of: state.transactions[0]))
    #expect(state.transactions[1].isUpgraded)
    try state.changePlan("Ada", to: Shop.yearly, as: .downgrade)
    let downgraded = try state.lastNotification()
    #expect(downgraded.transaction?.payload.productID == Shop.pro)
    #expect(downgraded.renewalInfo?.payload.autoRenewProductID == Shop.yearly)
    #expect(downgraded.renewalInfo?.payload.renewalPrice == 19990)
    try state.changePlan("Ada", to: Shop.pro, as: .stay)
    try state.changePlan("Ada", to: Shop.yearly, as: .downgrade)
    state.advance(to: Shop.date("2026-02-21"))
    #expect(
        state.notificationNames(since: 2) == [
            "DID_CHANGE_RENEWAL_PREF/UPGRADE", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_CHANGE_RENEWAL_PREF",
            "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_RENEW",
        ])
    #expect(state.transactions.last?.price == 19990)
    #expect(state.transactions.last?.expiresDate == Shop.date("2027-02-20"))
}

@Test func `a change to a product of the same level applies at once if the length is the same, and otherwise waits`()
    throws
{
    var app = Shop.app()
    let basic = Shop.bundleID + ".basic"
    app.products.append(
        AppStoreProduct(
            id: basic, type: .autoRenewable, price: 1490, group: Shop.group, level: 2, period: CalendarPeriod(months: 1)
        ))
    var state = AppStoreState(
        seed: "tests", environment: .production, startingAt: Shop.date("2026-01-10T12:00:00Z"), apps: [app])
    try state.addCustomer("Ada")
    try state.acquire("Ada")
    try state.buy(Shop.monthly, "Ada")
    try state.changePlan("Ada", to: basic, as: .upgrade)
    #expect(try state.lastNotification().transaction?.payload.productID == basic)
    try state.changePlan("Ada", to: Shop.yearly, as: .downgrade)
    #expect(try state.lastNotification().transaction?.payload.productID == basic)
    #expect(try state.lastNotification().renewalInfo?.payload.autoRenewProductID == Shop.yearly)
}

@Test func `changing a subscription's product switches renewal on without another notification`() throws {
    var state = try subscribed()
    try state.setAutoRenew(false, "Ada", Shop.monthly)
    try state.changePlan("Ada", to: Shop.yearly, as: .downgrade)
    #expect(try state.lastNotification().renewalInfo?.payload.autoRenewStatus?.known == .on)
    #expect(state.notificationNames(since: 3) == ["DID_CHANGE_RENEWAL_PREF/DOWNGRADE"])
}

@Test func `upgrading to a lower subscription level, downgrading to a higher one, and buying twice aren't possible`()
    throws
{
    var state = try subscribed()
    #expect(throws: AppStoreStateError.self) { try state.changePlan("Ada", to: Shop.pro, as: .downgrade) }
    #expect(throws: AppStoreStateError.self) { try state.buy(Shop.pro, "Ada") }
    #expect(state.notifications.count == 2)
    try state.changePlan("Ada", to: Shop.pro, as: .upgrade)
    #expect(throws: AppStoreStateError.self) { try state.changePlan("Ada", to: Shop.monthly, as: .upgrade) }
    #expect(state.notifications.count == 3)
    #expect(try state.lastNotification().transaction?.payload.productID == Shop.pro)
}

@Test func `an offer to a subscriber applies at the next renewal`() throws {
    var state = try subscribed()
    try state.changePlan("Ada", to: Shop.monthly, offer: "thanks", as: .stay)
    let redeemed = try state.lastNotification()
    #expect(redeemed.renewalInfo?.payload.offerIdentifier == "thanks")
    #expect(redeemed.renewalInfo?.payload.renewalPrice == 2990)
    state.advance(to: Shop.date("2026-02-18"))
    #expect(state.notificationNames(since: 2) == ["OFFER_REDEEMED", "DID_RENEW"])
    let renewed = try #require(state.transactions.last)
    #expect(renewed.price == 2990)
    #expect(renewed.expiresDate == Shop.date("2026-05-17T12:00:00Z"))
    #expect(renewed.offer?.type == .promotional)
}

@Test func `canceling a downgrade also cancels the offer for the downgrade`() throws {
    var state = try subscribed()
    try state.changePlan("Ada", to: Shop.pro, as: .upgrade)
    try state.changePlan("Ada", to: Shop.monthly, offer: "thanks", as: .downgrade)
    let downgraded = try state.lastNotification()
    #expect(downgraded.renewalInfo?.payload.renewalPrice == 2990)
    try state.changePlan("Ada", to: Shop.pro, as: .stay)
    let kept = try state.lastNotification()
    #expect(kept.renewalInfo?.payload.renewalPrice == 4990)
    #expect(kept.renewalInfo?.payload.offerIdentifier == nil)
}

@Test func `a pay-as-you-go win-back offer lasts for its number of periods`() throws {
    var state = try subscribed()
    try state.setAutoRenew(false, "Ada", Shop.monthly)
    state.advance(to: Shop.date("2026-03-01"))
    #expect(try state.lastNotification().renewalInfo?.payload.eligibleWinBackOfferIDs == ["comeback"])
    try state.buy(Shop.monthly, "Ada", offer: "comeback")
    state.advance(to: Shop.date("2026-06-01T12:00:00Z"))
    #expect(state.transactions.suffix(4).map(\.price) == [990, 990, 1990, 1990])
    #expect(throws: AppStoreStateError.noOffer(product: Shop.monthly, offer: "nothing")) {
        var state = try Shop.state(of: "Ada")
        try state.buy(Shop.monthly, "Ada", offer: "nothing")
    }
}

@Test func `a subscription renews at a higher price only with the customer's consent, and otherwise ends`() throws {
    var state = try subscribed()
    try state.raisePrice(of: Shop.monthly, to: 2990)
    #expect(try state.lastNotification().renewalInfo?.payload.priceIncreaseStatus?.known == .notYetAnswered)
    var consenting = state
    try consenting.consent("Ada", Shop.monthly)
    consenting.advance(to: Shop.date("2026-02-18"))
    #expect(
        consenting.notificationNames(since: 2) == ["PRICE_INCREASE/PENDING", "PRICE_INCREASE/ACCEPTED", "DID_RENEW"])
    #expect(consenting.transactions.last?.price == 2990)
    state.advance(to: Shop.date("2026-02-18"))
    #expect(state.notificationNames(since: 2) == ["PRICE_INCREASE/PENDING", "EXPIRED/PRICE_INCREASE"])
    #expect(try state.lastNotification().renewalInfo?.payload.expirationIntent?.known == .priceIncreaseNotAccepted)
}

@Test func `a subscription to a product that was removed from sale doesn't renew`() throws {
    var state = try subscribed()
    try state.setOnSale(false, product: Shop.monthly)
    state.advance(to: Shop.date("2026-02-18"))
    #expect(state.notificationNames(since: 2) == ["EXPIRED/PRODUCT_NOT_FOR_SALE"])
    #expect(throws: AppStoreStateError.notForSale(product: Shop.monthly)) { try state.buy(Shop.monthly, "Ada") }
}

@Test func `a refund ends a subscription only if the refund is for the current period`() throws {
    var state = try subscribed()
    try state.requestRefund("Ada", Shop.monthly, periodsAgo: 1)
    let request = try state.lastNotification()
    #expect(request.notification.payload.data?.consumptionRequestReason?.known == .unintendedPurchase)
    #expect(request.transaction?.payload.transactionID == state.id(of: state.transactions[0]))
    try state.declineRefund("Ada", Shop.monthly, periodsAgo: 1)
    try state.refund("Ada", Shop.monthly, periodsAgo: 1)
    let earlier = try state.lastNotification()
    #expect(earlier.notification.payload.data?.status?.known == .active)
    #expect(earlier.transaction?.payload.revocationType?.known == .refundFull)
    #expect(earlier.transaction?.payload.transactionID == state.id(of: state.transactions[0]))
    try state.refund("Ada", Shop.monthly, percentage: 50000, reason: .issueInTheApp)
    let running = try state.lastNotification()
    #expect(running.notification.payload.data?.status?.known == .revoked)
    #expect(running.transaction?.payload.revocationType?.known == .refundProrated)
    #expect(running.transaction?.payload.revocationPercentage == 50000)
    #expect(running.transaction?.payload.revocationReason?.known == .issueInTheApp)
    state.advance(to: Shop.date("2026-03-01"))
    #expect(
        state.notificationNames(since: 2) == [
            "CONSUMPTION_REQUEST", "REFUND_DECLINED", "REFUND", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
            "REFUND",
        ])
}

@Test func `notifications of one instant have ascending signing dates`() throws {
    var state = try subscribed()
    try state.refund("Ada", Shop.monthly)
    try state.reverseRefund("Ada", Shop.monthly)
    let signings = state.notifications.suffix(3).map(\.signingDate)
    #expect(state.notifications.suffix(3).allSatisfy { $0.date == state.now })
    #expect(signings == signings.sorted() && Set(signings).count == 3)
    let last = try #require(state.lastNotification().transaction?.payload.signedDate)
    #expect(Int((last.timeIntervalSince(state.now) * 1000).rounded()) == 2)
}

@Test func `a reversed refund restores the subscription until its original end`() throws {
    var state = try subscribed()
    try state.refund("Ada", Shop.monthly)
    state.advance(to: Shop.date("2026-01-25"))
    try state.reverseRefund("Ada", Shop.monthly)
    let reversed = try state.lastNotification()
    #expect(reversed.notification.payload.data?.status?.known == .active)
    #expect(reversed.transaction?.payload.revocationDate == nil)
    #expect(reversed.transaction?.payload.revocationType == nil)
    state.advance(to: Shop.date("2026-03-01"))
    #expect(state.notificationNames(since: 4) == ["REFUND_REVERSED", "EXPIRED/VOLUNTARY"])
}

@Test func `in the sandbox a month takes five minutes, and a subscription ends after twelve renewals`() throws {
    var state = try Shop.state(of: "Hana", .sandbox, at: "2026-01-10T12:00:00Z")
    try state.buy(Shop.monthly, "Hana")
    let start = state.now
    func expiry() -> TimeInterval? { state.transactions.last?.expiresDate?.timeIntervalSince(start) }
    #expect(expiry() == 180, "the trial of a week")
    state.advance(to: start.addingTimeInterval(180))
    #expect(expiry() == 480)
    state.advance(to: start.addingTimeInterval(7200))
    #expect(state.transactions.count == 13)
    #expect(state.notificationNames().filter { $0 == "DID_RENEW" }.count == 12)
    #expect(state.notificationNames().last == "EXPIRED/VOLUNTARY")
    // The subscription renews again after another purchase. A year takes an hour here.
    try state.buy(Shop.yearly, "Hana")
    state.advance(to: start.addingTimeInterval(7200 + 3600))
    #expect(state.transactions.count == 15)
    #expect(state.transactions.last?.expiresDate == start.addingTimeInterval(7200 + 7200))
}

@Test func `a scenario can set the length of subscription periods in the sandbox`() throws {
    func scenario(_ lines: String) throws -> Scenario {
        try ScenarioReader.read(
            Array(
                """
                scenario: A slower sandbox
                begins: 2026-01-10T12:00:00Z
                \(lines)
                app:
                  bundleID: \(Shop.bundleID)
                  appleID: 828838134
                  gracePeriodDays: 3
                  releases: [{ platform: iOS, build: "37", version: "1.4", at: 2014-01-10 }]
                  products:
                    \(Shop.monthly): { type: autoRenewable, price: 1.99, group: plans, period: P1M }
                customers: { Hana: {} }
                """.utf8), named: "story.yaml")
    }
    let slow = try scenario("environment: Sandbox\nsandbox: { month: 1h, renewals: 2, waitingDay: 1m }")
    var state = slow.header.state
    try state.addCustomer("Hana")
    try state.acquire("Hana")
    try state.buy(Shop.monthly, "Hana")
    let start = state.now
    state.advance(to: start.addingTimeInterval(4 * 3600))
    #expect(state.transactions.map { $0.expiresDate?.timeIntervalSince(start) } == [3600, 7200, 10800])
    #expect(state.notificationNames().last == "EXPIRED/VOLUNTARY")
    try state.buy(Shop.monthly, "Hana")
    try state.setBillingWorks(false, of: "Hana")
    state.advance(to: start.addingTimeInterval(5 * 3600 + 179))
    #expect(try state.entitledProducts(of: "Hana") == [Shop.monthly])
    state.advance(to: start.addingTimeInterval(5 * 3600 + 180))
    #expect(try state.entitledProducts(of: "Hana").isEmpty)

    // The journal's header stores the lengths. Without them, Apple's lengths apply.
    let kept = try JSONDecoder().decode(JournalHeader.self, from: JSONEncoder().encode(slow.header))
    #expect(kept.sandboxPeriods == slow.header.sandboxPeriods)
    #expect(try scenario("environment: Sandbox").header.sandboxPeriods == nil)
    for (lines, mistake) in [
        ("sandbox: { month: 1h }", "story.yaml:3:1: `sandbox` needs `environment: Sandbox`"),
        ("environment: Sandbox\nsandbox: { days: 59s }", "story.yaml:4:18: `days` is too short"),
        ("environment: Sandbox\nsandbox: { renewals: 1001 }", "story.yaml:4:22: a subscription renews"),
    ] {
        #expect { try scenario(lines) } throws: { "\($0)".contains(mistake) }
    }
}

@Test func `in the sandbox, grace periods and billing retry take minutes`() throws {
    var state = try Shop.state(of: "Hana", .sandbox, at: "2026-01-10T12:00:00Z", gracePeriodDays: 16)
    try state.buy(Shop.pro, "Hana")
    try state.setBillingWorks(false, of: "Hana")
    let start = state.now
    state.advance(to: start.addingTimeInterval(300 + 159))
    #expect(try state.entitledProducts(of: "Hana") == [Shop.pro])
    state.advance(to: start.addingTimeInterval(300 + 160))
    #expect(try state.entitledProducts(of: "Hana").isEmpty)
    state.advance(to: start.addingTimeInterval(300 + 600))
    #expect(state.notificationNames().last == "EXPIRED/BILLING_RETRY")
}

@Test func `a refund that is reversed after the subscription's end gives no access`() throws {
    var state = try subscribed()
    try state.refund("Ada", Shop.monthly)
    state.advance(to: Shop.date("2026-06-01"))
    try state.reverseRefund("Ada", Shop.monthly)
    #expect(state.notificationNames().last == "REFUND_REVERSED")
    #expect(try state.entitledProducts(of: "Ada").isEmpty)
}
