import CalculatorSeller
import Foundation
import LocalAppStore
import TenureAppStore
import TenureCore
import Testing

/// Ada has the app and a monthly plan since noon of the 10th of January 2026; its trial ended on the 17th.
private func subscribed(gracePeriodDays: Int? = nil) throws -> World {
    var world = try Shop.world(of: "Ada", at: "2026-01-10T12:00:00Z", gracePeriodDays: gracePeriodDays)
    try world.buy(Shop.monthly, "Ada")
    world.advance(to: Shop.date("2026-01-20"))
    return world
}

@Test func `a first subscription begins with its trial, and renews when the clock passes it`() throws {
    let world = try subscribed()
    #expect(world.told() == ["SUBSCRIBED/INITIAL_BUY", "DID_RENEW"])
    #expect(world.transactions.map(\.price) == [0, 1990])
    #expect(
        world.transactions.map(\.purchaseDate) == [
            Shop.date("2026-01-10T12:00:00Z"), Shop.date("2026-01-17T12:00:00Z"),
        ])
    #expect(world.transactions[1].expiresDate == Shop.date("2026-02-17T12:00:00Z"))
    // Charged, and signed, before the period begins.
    let notification = try world.lastNotification()
    let transaction = try #require(notification.transaction).payload
    #expect(try #require(transaction.signedDate) < #require(transaction.purchaseDate))
    #expect(transaction.transactionReason?.known == .renewal)
    #expect(transaction.originalTransactionID == world.id(of: world.transactions[0]))
    #expect(notification.notification.payload.data?.status?.known == .active)
    #expect(notification.renewalInfo?.payload.renewalPrice == 1990)
}

@Test func `a cancelled plan runs to its end, and can be taken up again`() throws {
    var world = try subscribed()
    try world.setAutoRenew(false, "Ada", Shop.monthly)
    #expect(try world.lastNotification().renewalInfo?.payload.autoRenewStatus?.known == .off)
    #expect(try world.lastNotification().renewalInfo?.payload.renewalPrice == nil)
    world.advance(to: Shop.date("2026-02-17T12:00:00Z"))
    let expired = try world.lastNotification()
    #expect(expired.notification.payload.data?.status?.known == .expired)
    #expect(expired.renewalInfo?.payload.expirationIntent?.known == .customerCancelled)
    #expect(expired.renewalInfo?.payload.isInBillingRetryPeriod == false)
    world.advance(to: Shop.date("2026-03-01"))
    try world.buy(Shop.monthly, "Ada")
    #expect(
        world.told(since: 2) == [
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY", "SUBSCRIBED/RESUBSCRIBE",
        ])
    // The trial is for those who never had one.
    #expect(world.transactions.last?.offer == nil)
    #expect(world.transactions.last?.original == 0)
}

@Test func `a renewal switched on again goes on`() throws {
    var world = try subscribed()
    try world.setAutoRenew(false, "Ada", Shop.monthly)
    try world.setAutoRenew(true, "Ada", Shop.monthly)
    world.advance(to: Shop.date("2026-02-20"))
    #expect(
        world.told(since: 2) == [
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED",
            "DID_RENEW",
        ])
}

@Test func `a failed charge without a grace period ends access, and the retry ends after sixty days`() throws {
    var world = try subscribed()
    try world.setBillingWorks(false, of: "Ada")
    world.advance(to: Shop.date("2026-02-18"))
    let failed = try world.lastNotification()
    #expect(failed.notification.payload.data?.status?.known == .billingRetry)
    #expect(failed.renewalInfo?.payload.isInBillingRetryPeriod == true)
    #expect(failed.renewalInfo?.payload.gracePeriodExpiresDate == nil)
    world.advance(to: Shop.date("2026-06-01"))
    #expect(world.told(since: 2) == ["DID_FAIL_TO_RENEW", "EXPIRED/BILLING_RETRY"])
    #expect(world.notifications.last?.date == Shop.date("2026-04-18T12:00:00Z"))
    #expect(try world.lastNotification().renewalInfo?.payload.expirationIntent?.known == .billingError)
}

@Test func `a grace period keeps access and then ends it, and recovery within it loses no day`() throws {
    var world = try subscribed(gracePeriodDays: 16)
    try world.setBillingWorks(false, of: "Ada")
    world.advance(to: Shop.date("2026-02-20"))
    let grace = try world.lastNotification()
    #expect(grace.notification.payload.data?.status?.known == .gracePeriod)
    #expect(grace.renewalInfo?.payload.gracePeriodExpiresDate == Shop.date("2026-03-05T12:00:00Z"))

    var recovered = world
    try recovered.recover("Ada", Shop.monthly)
    #expect(recovered.told(since: 2) == ["DID_FAIL_TO_RENEW/GRACE_PERIOD", "DID_RENEW/BILLING_RECOVERY"])
    #expect(recovered.transactions.last?.purchaseDate == Shop.date("2026-02-17T12:00:00Z"))

    world.advance(to: Shop.date("2026-03-10"))
    #expect(world.told(since: 2) == ["DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED"])
    #expect(try world.lastNotification().notification.payload.data?.status?.known == .billingRetry)
    try world.recover("Ada", Shop.monthly)
    #expect(world.transactions.last?.purchaseDate == Shop.date("2026-03-10"))
    world.advance(to: Shop.date("2026-06-01"))
    #expect(!world.told().contains("EXPIRED/BILLING_RETRY"))
}

@Test func `an upgrade is at once, a downgrade waits, and can be taken back`() throws {
    var world = try subscribed()
    try world.changePlan("Ada", to: Shop.pro, as: .upgrade)
    let upgraded = try world.lastNotification()
    #expect(upgraded.transaction?.payload.productID == Shop.pro)
    #expect(upgraded.transaction?.payload.purchaseDate == Shop.date("2026-01-20"))
    #expect(upgraded.transaction?.payload.originalTransactionID == world.id(of: world.transactions[0]))
    #expect(world.transactions[1].isUpgraded)
    try world.changePlan("Ada", to: Shop.yearly, as: .downgrade)
    let downgraded = try world.lastNotification()
    #expect(downgraded.transaction?.payload.productID == Shop.pro)
    #expect(downgraded.renewalInfo?.payload.autoRenewProductID == Shop.yearly)
    #expect(downgraded.renewalInfo?.payload.renewalPrice == 19990)
    try world.changePlan("Ada", to: Shop.pro, as: .stay)
    try world.changePlan("Ada", to: Shop.yearly, as: .downgrade)
    world.advance(to: Shop.date("2026-02-21"))
    #expect(
        world.told(since: 2) == [
            "DID_CHANGE_RENEWAL_PREF/UPGRADE", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_CHANGE_RENEWAL_PREF",
            "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_RENEW",
        ])
    #expect(world.transactions.last?.price == 19990)
    #expect(world.transactions.last?.expiresDate == Shop.date("2027-02-20"))
}

@Test func `a change of plan switches the renewal on again, and says nothing of it`() throws {
    var world = try subscribed()
    try world.setAutoRenew(false, "Ada", Shop.monthly)
    try world.changePlan("Ada", to: Shop.yearly, as: .downgrade)
    #expect(try world.lastNotification().renewalInfo?.payload.autoRenewStatus?.known == .on)
    #expect(world.told(since: 3) == ["DID_CHANGE_RENEWAL_PREF/DOWNGRADE"])
}

@Test func `a change in the wrong direction does not happen`() throws {
    var world = try subscribed()
    #expect(throws: WorldError.self) { try world.changePlan("Ada", to: Shop.pro, as: .downgrade) }
    #expect(throws: WorldError.self) { try world.buy(Shop.pro, "Ada") }
    #expect(world.notifications.count == 2)
}

@Test func `an offer to a subscriber is redeemed, and counts at the next renewal`() throws {
    var world = try subscribed()
    try world.changePlan("Ada", to: Shop.monthly, offer: "thanks", as: .stay)
    let redeemed = try world.lastNotification()
    #expect(redeemed.renewalInfo?.payload.offerIdentifier == "thanks")
    #expect(redeemed.renewalInfo?.payload.renewalPrice == 2990)
    world.advance(to: Shop.date("2026-02-18"))
    #expect(world.told(since: 2) == ["OFFER_REDEEMED", "DID_RENEW"])
    let renewed = try #require(world.transactions.last)
    #expect(renewed.price == 2990)
    #expect(renewed.expiresDate == Shop.date("2026-05-17T12:00:00Z"))
    #expect(renewed.offer?.type == .promotional)
}

@Test func `a win-back is paid as you go, as often as it says`() throws {
    var world = try subscribed()
    try world.setAutoRenew(false, "Ada", Shop.monthly)
    world.advance(to: Shop.date("2026-03-01"))
    #expect(try world.lastNotification().renewalInfo?.payload.eligibleWinBackOfferIDs == ["comeback"])
    try world.buy(Shop.monthly, "Ada", offer: "comeback")
    world.advance(to: Shop.date("2026-06-01T12:00:00Z"))
    #expect(world.transactions.suffix(4).map(\.price) == [990, 990, 1990, 1990])
    #expect(throws: WorldError.noOffer(product: Shop.monthly, offer: "nothing")) {
        var world = try Shop.world(of: "Ada")
        try world.buy(Shop.monthly, "Ada", offer: "nothing")
    }
}

@Test func `a higher price needs consent, and without it the plan ends`() throws {
    var world = try subscribed()
    try world.raisePrice(of: Shop.monthly, to: 2990)
    #expect(try world.lastNotification().renewalInfo?.payload.priceIncreaseStatus?.known == .notYetAnswered)
    var consenting = world
    try consenting.consent("Ada", Shop.monthly)
    consenting.advance(to: Shop.date("2026-02-18"))
    #expect(consenting.told(since: 2) == ["PRICE_INCREASE/PENDING", "PRICE_INCREASE/ACCEPTED", "DID_RENEW"])
    #expect(consenting.transactions.last?.price == 2990)
    world.advance(to: Shop.date("2026-02-18"))
    #expect(world.told(since: 2) == ["PRICE_INCREASE/PENDING", "EXPIRED/PRICE_INCREASE"])
    #expect(try world.lastNotification().renewalInfo?.payload.expirationIntent?.known == .priceIncreaseNotAccepted)
}

@Test func `a product taken from sale does not renew`() throws {
    var world = try subscribed()
    try world.setOnSale(false, product: Shop.monthly)
    world.advance(to: Shop.date("2026-02-18"))
    #expect(world.told(since: 2) == ["EXPIRED/PRODUCT_NOT_FOR_SALE"])
    #expect(throws: WorldError.notForSale(product: Shop.monthly)) { try world.buy(Shop.monthly, "Ada") }
}

@Test func `a refund of the running period revokes it, of an earlier one it does not`() throws {
    var world = try subscribed()
    try world.requestRefund("Ada", Shop.monthly, periodsAgo: 1)
    let request = try world.lastNotification()
    #expect(request.notification.payload.data?.consumptionRequestReason?.known == .unintendedPurchase)
    #expect(request.transaction?.payload.transactionID == world.id(of: world.transactions[0]))
    try world.declineRefund("Ada", Shop.monthly, periodsAgo: 1)
    try world.refund("Ada", Shop.monthly, periodsAgo: 1)
    let earlier = try world.lastNotification()
    #expect(earlier.notification.payload.data?.status?.known == .active)
    #expect(earlier.transaction?.payload.revocationType?.known == .refundFull)
    #expect(earlier.transaction?.payload.transactionID == world.id(of: world.transactions[0]))
    try world.refund("Ada", Shop.monthly, percentage: 50000, reason: .issueInTheApp)
    let running = try world.lastNotification()
    #expect(running.notification.payload.data?.status?.known == .revoked)
    #expect(running.transaction?.payload.revocationType?.known == .refundProrated)
    #expect(running.transaction?.payload.revocationPercentage == 50000)
    #expect(running.transaction?.payload.revocationReason?.known == .issueInTheApp)
    world.advance(to: Shop.date("2026-03-01"))
    #expect(
        world.told(since: 2) == [
            "CONSUMPTION_REQUEST", "REFUND_DECLINED", "REFUND", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
            "REFUND",
        ])
}

@Test func `what happens at one instant is signed in its order`() throws {
    var world = try subscribed()
    try world.refund("Ada", Shop.monthly)
    try world.reverseRefund("Ada", Shop.monthly)
    let signings = world.notifications.suffix(3).map(\.signingDate)
    #expect(world.notifications.suffix(3).allSatisfy { $0.date == world.now })
    #expect(signings == signings.sorted() && Set(signings).count == 3)
    let last = try #require(world.lastNotification().transaction?.payload.signedDate)
    #expect(Int((last.timeIntervalSince(world.now) * 1000).rounded()) == 2)
}

@Test func `a reversed refund restores what it took, until the day on which it ends anyway`() throws {
    var world = try subscribed()
    try world.refund("Ada", Shop.monthly)
    world.advance(to: Shop.date("2026-01-25"))
    try world.reverseRefund("Ada", Shop.monthly)
    let reversed = try world.lastNotification()
    #expect(reversed.notification.payload.data?.status?.known == .active)
    #expect(reversed.transaction?.payload.revocationDate == nil)
    #expect(reversed.transaction?.payload.revocationType == nil)
    world.advance(to: Shop.date("2026-03-01"))
    #expect(world.told(since: 4) == ["REFUND_REVERSED", "EXPIRED/VOLUNTARY"])
}

@Test func `in the sandbox a month takes five minutes, and a plan ends after twelve renewals`() throws {
    var world = try Shop.world(of: "Hana", .sandbox, at: "2026-01-10T12:00:00Z")
    try world.buy(Shop.monthly, "Hana")
    let start = world.now
    func expiry() -> TimeInterval? { world.transactions.last?.expiresDate?.timeIntervalSince(start) }
    #expect(expiry() == 180, "the trial of a week")
    world.advance(to: start.addingTimeInterval(180))
    #expect(expiry() == 480)
    world.advance(to: start.addingTimeInterval(7200))
    #expect(world.transactions.count == 13)
    #expect(world.told().filter { $0 == "DID_RENEW" }.count == 12)
    #expect(world.told().last == "EXPIRED/VOLUNTARY")
    // Bought again it renews again; a year takes an hour.
    try world.buy(Shop.yearly, "Hana")
    world.advance(to: start.addingTimeInterval(7200 + 3600))
    #expect(world.transactions.count == 15)
    #expect(world.transactions.last?.expiresDate == start.addingTimeInterval(7200 + 7200))
}

@Test func `how short time is in the sandbox a scenario may say`() throws {
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
    let told = try scenario("environment: Sandbox\nsandbox: { month: 1h, renewals: 2, waitingDay: 1m }")
    var world = told.founding.world
    try world.addCustomer("Hana")
    try world.acquire("Hana")
    try world.buy(Shop.monthly, "Hana")
    let start = world.now
    world.advance(to: start.addingTimeInterval(4 * 3600))
    #expect(world.transactions.map { $0.expiresDate?.timeIntervalSince(start) } == [3600, 7200, 10800])
    #expect(world.told().last == "EXPIRED/VOLUNTARY")
    try world.buy(Shop.monthly, "Hana")
    try world.setBillingWorks(false, of: "Hana")
    world.advance(to: start.addingTimeInterval(5 * 3600 + 179))
    #expect(try world.entitledProducts(of: "Hana") == [Shop.monthly])
    world.advance(to: start.addingTimeInterval(5 * 3600 + 180))
    #expect(try world.entitledProducts(of: "Hana").isEmpty)

    // It is kept with the world, and worlds that were kept before there was such a thing go by Apple's.
    let kept = try JSONDecoder().decode(Founding.self, from: JSONEncoder().encode(told.founding))
    #expect(kept.sandboxPace == told.founding.sandboxPace)
    #expect(try scenario("environment: Sandbox").founding.sandboxPace == nil)
    for (lines, mistake) in [
        ("sandbox: { month: 1h }", "story.yaml:3:1: `sandbox` needs `environment: Sandbox`"),
        ("environment: Sandbox\nsandbox: { days: 59s }", "story.yaml:4:18: that is too short"),
        ("environment: Sandbox\nsandbox: { renewals: 1001 }", "story.yaml:4:22: a subscription renews"),
    ] {
        #expect { try scenario(lines) } throws: { "\($0)".contains(mistake) }
    }
}

@Test func `in the sandbox grace periods and billing retry are short, too`() throws {
    var world = try Shop.world(of: "Hana", .sandbox, at: "2026-01-10T12:00:00Z", gracePeriodDays: 16)
    try world.buy(Shop.pro, "Hana")
    try world.setBillingWorks(false, of: "Hana")
    let start = world.now
    world.advance(to: start.addingTimeInterval(300 + 159))
    #expect(try world.entitledProducts(of: "Hana") == [Shop.pro])
    world.advance(to: start.addingTimeInterval(300 + 160))
    #expect(try world.entitledProducts(of: "Hana").isEmpty)
    world.advance(to: start.addingTimeInterval(300 + 600))
    #expect(world.told().last == "EXPIRED/BILLING_RETRY")
}
