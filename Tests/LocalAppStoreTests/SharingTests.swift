import CalculatorSeller
import Foundation
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
