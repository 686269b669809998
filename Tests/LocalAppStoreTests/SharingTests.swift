import CalculatorSeller
import Foundation
import TenureAppStore
import TenureCore
import Testing

@testable import LocalAppStore

private func family() throws -> AppStoreState {
    var state = Shop.state(at: "2026-01-10T12:00:00Z")
    for name in ["Ada", "Byron"] {
        try state.addCustomer(name, family: "Lovelace")
        try state.acquire(name)
    }
    return state
}

@Test func `a family member keeps a shared subscription until its extended renewal date`() throws {
    var state = try family()
    try state.buy(Shop.monthly, "Ada")
    try state.share("Ada", Shop.monthly)
    try state.setAutoRenew(false, "Ada", Shop.monthly)
    let sent = state.notifications.count
    let extended = state.extend(state.transactions[0], by: 14)
    #expect(extended == Shop.date("2026-01-31T12:00:00Z"))
    #expect(state.notificationNames(since: sent) == ["RENEWAL_EXTENDED", "RENEWAL_EXTENDED"])
    #expect(state.transactions.map(\.expiresDate) == [extended, extended])
    state.advance(to: Shop.date("2026-01-31T11:59:59Z"))
    #expect(try state.entitledProducts(of: "Byron") == [Shop.monthly])
    state.advance(to: Shop.date("2026-01-31T12:00:00Z"))
    #expect(try state.entitledProducts(of: "Byron").isEmpty)
}

@Test(arguments: [Shop.everything, Shop.monthly])
func `a refund of a shared purchase takes it from the family too`(product: String) throws {
    var state = try family()
    try state.buy(product, "Ada")
    try state.share("Ada", product)
    #expect(try state.entitledProducts(of: "Byron") == [product])
    try state.refund("Ada", product)
    #expect(try state.entitledProducts(of: "Ada").isEmpty)
    #expect(try state.entitledProducts(of: "Byron").isEmpty)
    #expect(state.notificationNames().contains("REVOKE"))
}

@Test(arguments: [Shop.everything, Shop.monthly])
func `a purchaser who leaves the family keeps what the members lose`(product: String) throws {
    var state = try family()
    try state.buy(product, "Ada")
    try state.share("Ada", product)
    try state.leaveFamily("Ada")
    #expect(try state.entitledProducts(of: "Ada") == [product])
    #expect(try state.entitledProducts(of: "Byron").isEmpty)
}

@Test func `a subscription that its purchaser stopped sharing isn't shared when it renews or begins again`() throws {
    var state = try family()
    try state.buy(Shop.monthly, "Ada")
    try state.share("Ada", Shop.monthly)
    try state.unshare("Ada", Shop.monthly)
    state.advance(to: Shop.date("2026-01-18"))
    try state.setAutoRenew(false, "Ada", Shop.monthly)
    state.advance(to: Shop.date("2026-02-18"))
    try state.buy(Shop.monthly, "Ada")
    #expect(
        state.notificationNames(since: 2) == [
            "REVOKE", "DID_RENEW", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY",
            "SUBSCRIBED/RESUBSCRIBE",
        ])
    #expect(try state.entitledProducts(of: "Ada") == [Shop.monthly])
    #expect(try state.entitledProducts(of: "Byron").isEmpty)
    #expect(throws: AppStoreStateError.self) { try state.unshare("Ada", Shop.monthly) }
}

@Test func `a family member's share is upgraded with the purchaser's subscription, and renewed with it`() throws {
    var state = try family()
    try state.buy(Shop.monthly, "Ada")
    try state.share("Ada", Shop.monthly)
    try state.changePlan("Ada", to: Shop.pro, as: .upgrade)
    #expect(
        state.notificationNames(since: 2) == ["DID_CHANGE_RENEWAL_PREF/UPGRADE", "DID_CHANGE_RENEWAL_PREF/UPGRADE"])
    #expect(try state.entitledProducts(of: "Byron") == [Shop.pro])
    #expect(state.transactions.map(\.isUpgraded) == [true, true, false, false])
    state.advance(to: Shop.date("2026-02-11"))
    #expect(state.notificationNames(since: 4) == ["DID_RENEW", "DID_RENEW"])
    #expect(state.transactions.map(\.price) == [0, 0, 4990, 0, 4990, 0])
    // A renewal doesn't mark the former period as upgraded.
    #expect(state.transactions.map(\.isUpgraded) == [true, true, false, false, false, false])
    #expect(state.transactions[5].expiresDate == state.transactions[4].expiresDate)
    #expect(state.transactions[5].originalTransaction == 1)
}

@Test func `a member who gets the app later gets only what the family shares then`() throws {
    var state = Shop.state(at: "2026-01-10T12:00:00Z")
    for name in ["Ada", "Gwen"] { try state.addCustomer(name, family: "Lovelace") }
    try state.acquire("Ada")
    try state.buy(Shop.everything, "Ada")
    try state.buy(Shop.monthly, "Ada")
    try state.share("Ada", Shop.monthly)
    try state.setAutoRenew(false, "Ada", Shop.monthly)
    state.advance(to: Shop.date("2026-01-18"))
    let sent = state.notifications.count
    try state.acquire("Gwen")
    #expect(state.notifications.count == sent)
    #expect(try state.entitledProducts(of: "Gwen").isEmpty)
    try state.share("Ada", Shop.everything)
    #expect(state.notificationNames(since: sent) == ["ONE_TIME_CHARGE"])
    #expect(try state.entitledProducts(of: "Gwen") == [Shop.everything])
}

@Test func `a member who left the family gets nothing that is shared later`() throws {
    var state = try family()
    try state.leaveFamily("Byron")
    #expect(state.accounts.map(\.family) == ["Lovelace", nil])
    for product in [Shop.everything, Shop.monthly] {
        try state.buy(product, "Ada")
        try state.share("Ada", product)
    }
    #expect(try state.entitledProducts(of: "Byron").isEmpty)
    #expect(state.notifications.count == 2)
    #expect(throws: AppStoreStateError.noFamily(customer: "Byron")) { try state.leaveFamily("Byron") }
}

@Test func `a subscription that ended over a failed charge or a higher price doesn't renew automatically`() throws {
    for isPrice in [true, false] {
        var state = try family()
        try state.buy(Shop.monthly, "Ada")
        state.advance(to: Shop.date("2026-01-20"))
        if isPrice {
            try state.raisePrice(of: Shop.monthly, to: 2990)
        } else {
            try state.setBillingWorks(false, of: "Ada")
        }
        state.advance(to: Shop.date("2026-06-01"))
        #expect(state.notificationNames().last == (isPrice ? "EXPIRED/PRICE_INCREASE" : "EXPIRED/BILLING_RETRY"))
        let renewal = try #require(try state.lastNotification().renewalInfo).payload
        #expect(renewal.autoRenewStatus?.known == .off && renewal.renewalPrice == nil)
        #expect(throws: AppStoreStateError.self) { try state.setAutoRenew(true, "Ada", Shop.monthly) }
    }
}
