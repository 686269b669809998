import CalculatorSeller
import Foundation
import TenureAppStore
import TenureCore
import Testing

@testable import LocalAppStore

@Test func `a one-time purchase of each product type sends a ONE_TIME_CHARGE notification`() throws {
    var state = try Shop.state(of: "Ada")
    try state.buy(Shop.everything, "Ada")
    try state.buy(Shop.coins, "Ada", quantity: 3)
    try state.buy(Shop.season, "Ada")
    #expect(state.notificationNames() == ["ONE_TIME_CHARGE", "ONE_TIME_CHARGE", "ONE_TIME_CHARGE"])
    let last = try state.lastNotification()
    #expect(last.notification.payload.data?.status == nil)
    #expect(last.renewalInfo == nil)
    #expect(last.transaction?.payload.expiresDate == nil)
    #expect(state.transactions[1].price == 2970)
}

@Test func `prices and currencies depend on the storefront`() throws {
    var state = Shop.state()
    try state.addCustomer("Greta", storefront: "DEU")
    try state.acquire("Greta")
    try state.buy(Shop.everything, "Greta")
    let payload = try #require(try state.lastNotification().transaction).payload
    #expect(payload.price == 10990)
    #expect(payload.currency == "EUR")
    #expect(payload.storefront == "DEU")
    #expect(payload.storefrontID == "143443")
}

@Test func `the price of an operation has up to three decimals`() throws {
    for (text, price) in [("free", 0), ("5", 5000), ("4.9", 4900), ("4.99", 4990), ("4.999", 4999)] as [(String, Int64)]
    {
        #expect(try AppStoreOperation(.setPrice, [.price: text]).price() == price)
    }
}

@Test func `the platform of an operation is one that the App Store signs, and watchOS isn't`() throws {
    for platform in ["iOS", "macOS", "tvOS", "visionOS"] {
        try AppStoreOperation(.acquire, [.customer: "Ada", .platform: platform]).checkValues()
    }
    for kind in [AppStoreOperation.Kind.acquire, .update, .release] {
        let error = #expect(throws: OperationMistake.self) {
            try AppStoreOperation(kind, [.customer: "Ada", .platform: "watchOS"]).checkValues()
        }
        #expect(error?.description.contains("iOS, macOS, tvOS, visionOS") == true, "\(error as Any)")
    }
}

@Test func `a parameter of an operation can't be set twice`() throws {
    var operation = AppStoreOperation(.buy, [.customer: "Ada"])
    try operation.set("product", to: Shop.everything)
    #expect(throws: OperationMistake.self) { try operation.set("product", to: Shop.coins) }
}

@Test func `family members get separate transactions, which renew and end with the purchaser's subscription`() throws {
    var state = Shop.state(at: "2026-01-10T12:00:00Z")
    for name in ["Ada", "Byron", "Gwen"] { try state.addCustomer(name, family: "Lovelace") }
    try state.acquire("Ada")
    try state.acquire("Byron")
    try state.buy(Shop.monthly, "Ada")
    try state.share("Ada", Shop.monthly)
    #expect(state.notificationNames() == ["SUBSCRIBED/INITIAL_BUY", "SUBSCRIBED/INITIAL_BUY"])
    let shared = try #require(try state.lastNotification().transaction).payload
    #expect(shared.inAppOwnershipType?.known == .familyShared)
    #expect(shared.appTransactionID == state.id(of: state.acquisitions[1]))
    #expect(shared.originalTransactionID != state.id(of: state.transactions[0]))
    state.advance(to: Shop.date("2026-01-18"))
    #expect(state.notificationNames(since: 2) == ["DID_RENEW", "DID_RENEW"])
    try state.acquire("Gwen")
    #expect(state.notificationNames(since: 4) == ["SUBSCRIBED/INITIAL_BUY"])
    try state.leaveFamily("Gwen")
    #expect(state.notificationNames(since: 5) == ["REVOKE"])
    try state.refund("Ada", Shop.monthly)
    #expect(state.notificationNames(since: 6) == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "REFUND", "REVOKE"])
    let revoked = try state.lastNotification()
    #expect(revoked.transaction?.payload.revocationType?.known == .familyRevoke)
    #expect(revoked.notification.payload.data?.status?.known == .revoked)
    #expect(revoked.transaction?.payload.appTransactionID == state.id(of: state.acquisitions[1]))
}

/// A state in which Ada bought a product, and shares it with Byron.
private func familySharing(_ product: String, at now: String = "2014-09-06T10:00:00Z") throws -> AppStoreState {
    var state = Shop.state(at: now)
    for name in ["Ada", "Byron"] {
        try state.addCustomer(name, family: "Lovelace")
        try state.acquire(name)
    }
    try state.buy(product, "Ada")
    try state.share("Ada", product)
    return state
}

@Test func `family members get a subscription again when the purchaser subscribes again after a refund`() throws {
    var state = try familySharing(Shop.monthly, at: "2026-01-10T12:00:00Z")
    try state.refund("Ada", Shop.monthly)
    let sent = state.notificationNames().count
    try state.buy(Shop.monthly, "Ada")
    #expect(state.notificationNames(since: sent) == ["SUBSCRIBED/RESUBSCRIBE", "SUBSCRIBED/RESUBSCRIBE"])
    let shared = try #require(try state.lastNotification().transaction).payload
    #expect(shared.appTransactionID == state.id(of: state.acquisitions[1]))
    #expect(shared.inAppOwnershipType?.known == .familyShared)
    #expect(shared.revocationDate == nil)
    #expect(state.transactions.allSatisfy { !$0.isUpgraded })
}

@Test func `the family gets a shared non-consumable, and loses it when sharing ends`() throws {
    var state = try familySharing(Shop.everything)
    try state.unshare("Ada", Shop.everything)
    #expect(state.notificationNames() == ["ONE_TIME_CHARGE", "ONE_TIME_CHARGE", "REVOKE"])
    #expect(throws: AppStoreStateError.self) { try state.unshare("Ada", Shop.everything) }
}

@Test func `a non-consumable that is shared again reaches the family again`() throws {
    var state = try familySharing(Shop.everything)
    // A second request to share changes nothing.
    try state.share("Ada", Shop.everything)
    try state.unshare("Ada", Shop.everything)
    try state.share("Ada", Shop.everything)
    #expect(state.notificationNames(since: 1) == ["ONE_TIME_CHARGE", "REVOKE", "ONE_TIME_CHARGE"])
    #expect(state.transactions.filter(\.isFamilyShared).map { $0.revocation == nil } == [false, true])
}

@Test func `a notification about withdrawn consent contains the app transaction`() throws {
    var state = try Shop.state(of: "Ada")
    try state.rescindConsent("Ada")
    let notification = try state.lastNotification()
    #expect(notification.notification.payload.notificationType?.known == .rescindConsent)
    #expect(notification.appTransaction?.payload.appTransactionID == state.id(of: state.acquisitions[0]))
}

@Test func `a failed notification is sent again five times in production, and never in the sandbox`() throws {
    func attempts(_ environment: AppStoreEnvironment) throws -> [Date] {
        var state = try Shop.state(of: "Ada", environment, at: "2026-01-01", url: "https://example.com/hook")
        try state.buy(Shop.everything, "Ada")
        for _ in 0..<20 {
            for number in state.takeOutbox() { state.recordAttempt(.noResponse, of: number) }
            guard state.step(to: Shop.date("2026-02-01")) else { break }
        }
        return state.notifications[0].attempts.map(\.date)
    }
    #expect(
        try attempts(.production)
            == [
                "2026-01-01", "2026-01-01T01:00:00Z", "2026-01-01T13:00:00Z", "2026-01-02T13:00:00Z",
                "2026-01-04T13:00:00Z", "2026-01-07T13:00:00Z",
            ].map(Shop.date))
    #expect(try attempts(.sandbox) == [Shop.date("2026-01-01")])
}

@Test func `the local App Store's clock never runs backwards`() {
    var state = AppStoreState(seed: "clock", startingAt: Date(timeIntervalSince1970: 100))
    state.advance(to: Date(timeIntervalSince1970: 95))
    #expect(state.now.timeIntervalSince1970 == 100)
    state.advance(to: Date(timeIntervalSince1970: 100.0004))
    #expect(state.now.timeIntervalSince1970 == 100)
}

@Test func `who leaves a family loses its shared purchases, and the purchaser keeps them`() throws {
    for leaving in ["Byron", "Ada"] {
        var state = Shop.state()
        for name in ["Ada", "Byron", "Gwen"] {
            try state.addCustomer(name, family: "Lovelace")
            try state.acquire(name)
        }
        try state.buy(Shop.everything, "Ada")
        try state.share("Ada", Shop.everything)
        try state.leaveFamily(leaving)
        for name in ["Ada", "Byron", "Gwen"] {
            let isKept = name == "Ada" || name == "Gwen" && leaving == "Byron"
            #expect(try state.entitledProducts(of: name).isEmpty != isKept, "\(leaving) left, \(name)")
        }
    }
}

@Test func `a subscription that the family shares follows each step of its purchaser's failed renewal`() throws {
    var state = Shop.state(at: "2026-01-10T12:00:00Z", gracePeriodDays: 16)
    for name in ["Ada", "Byron"] {
        try state.addCustomer(name, family: "Lovelace")
        try state.acquire(name)
    }
    try state.buy(Shop.monthly, "Ada")
    try state.share("Ada", Shop.monthly)
    try state.setBillingWorks(false, of: "Ada")
    func shared() throws -> Set<String> { try state.entitledProducts(of: "Byron") }
    state.advance(to: Shop.date("2026-01-18"))
    #expect(try shared() == [Shop.monthly])
    state.advance(to: Shop.date("2026-02-10"))
    #expect(try shared().isEmpty)
    state.advance(to: Shop.date("2026-06-01"))
    #expect(
        state.notificationNames(since: 2) == [
            "DID_FAIL_TO_RENEW/GRACE_PERIOD", "DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED",
            "GRACE_PERIOD_EXPIRED", "EXPIRED/BILLING_RETRY", "EXPIRED/BILLING_RETRY",
        ])
}
