import CalculatorSeller
import Foundation
import LocalAppStore
import TenureAppStore
import TenureCore
import Testing

@Test func `one-time purchases of all types are charged once`() throws {
    var world = try Shop.world(of: "Ada")
    try world.buy(Shop.everything, "Ada")
    try world.buy(Shop.coins, "Ada", quantity: 3)
    try world.buy(Shop.season, "Ada")
    #expect(world.told() == ["ONE_TIME_CHARGE", "ONE_TIME_CHARGE", "ONE_TIME_CHARGE"])
    let last = try world.lastNotification()
    #expect(last.notification.payload.data?.status == nil)
    #expect(last.renewalInfo == nil)
    #expect(last.transaction?.payload.expiresDate == nil)
    #expect(world.transactions[1].price == 2970)
}

@Test func `prices and currencies are the storefront's`() throws {
    var world = Shop.world()
    try world.addCustomer("Greta", storefront: "DEU")
    try world.acquire("Greta")
    try world.buy(Shop.everything, "Greta")
    let payload = try #require(try world.lastNotification().transaction).payload
    #expect(payload.price == 10990)
    #expect(payload.currency == "EUR")
    #expect(payload.storefront == "DEU")
    #expect(payload.storefrontID == "143443")
}

@Test func `a family has its own transactions, which follow the purchaser's`() throws {
    var world = Shop.world(at: "2026-01-10T12:00:00Z")
    for name in ["Ada", "Byron", "Gwen"] { try world.addCustomer(name, family: "Lovelace") }
    try world.acquire("Ada")
    try world.acquire("Byron")
    try world.buy(Shop.monthly, "Ada")
    try world.share("Ada", Shop.monthly)
    #expect(world.told() == ["SUBSCRIBED/INITIAL_BUY", "SUBSCRIBED/INITIAL_BUY"])
    let shared = try #require(try world.lastNotification().transaction).payload
    #expect(shared.inAppOwnershipType?.known == .familyShared)
    #expect(shared.appTransactionID == world.id(of: world.acquisitions[1]))
    #expect(shared.originalTransactionID != world.id(of: world.transactions[0]))
    world.advance(to: Shop.date("2026-01-18"))
    #expect(world.told(since: 2) == ["DID_RENEW", "DID_RENEW"])
    try world.acquire("Gwen")
    #expect(world.told(since: 4) == ["SUBSCRIBED/INITIAL_BUY"])
    try world.leaveFamily("Gwen")
    #expect(world.told(since: 5) == ["REVOKE"])
    try world.refund("Ada", Shop.monthly)
    #expect(world.told(since: 6) == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "REFUND", "REVOKE"])
    let revoked = try world.lastNotification()
    #expect(revoked.transaction?.payload.revocationType?.known == .familyRevoke)
    #expect(revoked.notification.payload.data?.status?.known == .revoked)
    #expect(revoked.transaction?.payload.appTransactionID == world.id(of: world.acquisitions[1]))
}

@Test func `a shared non-consumable is told to the family, and taken back when sharing ends`() throws {
    var world = Shop.world()
    for name in ["Ada", "Byron"] {
        try world.addCustomer(name, family: "Lovelace")
        try world.acquire(name)
    }
    try world.buy(Shop.everything, "Ada")
    try world.share("Ada", Shop.everything)
    try world.unshare("Ada", Shop.everything)
    #expect(world.told() == ["ONE_TIME_CHARGE", "ONE_TIME_CHARGE", "REVOKE"])
    #expect(throws: WorldError.self) { try world.unshare("Ada", Shop.everything) }
}

@Test func `withdrawn consent names the app transaction`() throws {
    var world = try Shop.world(of: "Ada")
    try world.rescindConsent("Ada")
    let notification = try world.lastNotification()
    #expect(notification.notification.payload.notificationType?.known == .rescindConsent)
    #expect(notification.appTransaction?.payload.appTransactionID == world.id(of: world.acquisitions[0]))
}

@Test func `a failed delivery is tried again five times in production, and never in the sandbox`() throws {
    func attempts(_ environment: AppStoreEnvironment) throws -> [Date] {
        var world = try Shop.world(of: "Ada", environment, at: "2026-01-01", url: "https://example.com/hook")
        try world.buy(Shop.everything, "Ada")
        for _ in 0..<20 {
            for number in world.takeOutbox() { world.recordAttempt(.noResponse, of: number) }
            guard world.step(to: Shop.date("2026-02-01")) else { break }
        }
        return world.notifications[0].attempts.map(\.date)
    }
    #expect(
        try attempts(.production)
            == [
                "2026-01-01", "2026-01-01T01:00:00Z", "2026-01-01T13:00:00Z", "2026-01-02T13:00:00Z",
                "2026-01-04T13:00:00Z", "2026-01-07T13:00:00Z",
            ].map(Shop.date))
    #expect(try attempts(.sandbox) == [Shop.date("2026-01-01")])
}

@Test func `the clock never runs backwards`() {
    var clock = StoreClock(startingAt: Date(timeIntervalSince1970: 100))
    clock.advance(by: -5)
    #expect(clock.now.timeIntervalSince1970 == 100)
    clock.advance(to: Date(timeIntervalSince1970: 100.0004))
    #expect(clock.now.timeIntervalSince1970 == 100)
}
