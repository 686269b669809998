import CalculatorSeller
import Testing

@testable import LocalAppStore

/// Operations that the App Store wouldn't offer: what happened before, the operation, and a part of the error.
private let refusedOperations: [(before: [String], operation: String, error: String)] = [
    ([], "buy customer=Ada product=.unknown", "has no product"),
    ([], "buy customer=Zoe product=.coins", "there is no customer `Zoe`"),
    ([], "customer customer=Ada", "already is a customer `Ada`"),
    ([], "move customer=Ada storefront=XXX", "XXX"),
    ([], "buy customer=Cleo product=.coins", "`Cleo` doesn't have"),
    (["withdraw product=.coins"], "buy customer=Ada product=.coins", "isn't on sale"),
    (["failBilling customer=Ada"], "buy customer=Ada product=.everything", "every charge of `Ada` fails"),
    (["failBilling customer=Ada"], "buy customer=Ada product=.monthly", "every charge of `Ada` fails"),
    ([], "acquire customer=Ada", "already"),
    ([], "acquire customer=Cleo release=99", "99"),
    ([], "update customer=Cleo", "`Cleo` doesn't have"),
    // Subscriptions.
    ([], "buy customer=Ada product=.monthly offer=unknown", "unknown"),
    ([], "buy customer=Ada product=.monthly offer=comeback", "comeback"),
    ([], "buy customer=Ada product=.monthly offer=thanks", "thanks"),
    ([subscribed], "buy customer=Ada product=.yearly", "subscription"),
    ([subscribed, "withdraw product=.pro"], "upgrade customer=Ada product=.pro", "isn't on sale"),
    ([subscribed, canceled, later], "upgrade customer=Ada product=.pro", "be active"),
    ([], "cancel customer=Ada product=.monthly", "subscription"),
    ([subscribed], "resume customer=Ada product=.monthly", "run and not renew"),
    ([subscribed, canceled], "cancel customer=Ada product=.monthly", "renew automatically"),
    ([subscribed, canceled, later], "resume customer=Ada product=.monthly", "run and not renew"),
    ([subscribed], "recover customer=Ada product=.monthly", "be in a grace period or billing retry"),
    ([subscribed, canceled, later], "recover customer=Ada product=.monthly", "be in a grace period or billing retry"),
    ([subscribed], "consent customer=Ada product=.monthly", "have a price increase to answer"),
    // Refunds.
    ([], "refund customer=Ada product=.everything", "never bought"),
    ([bought], "refund customer=Ada product=.everything periodsAgo=1", "never bought"),
    ([bought, refunded], "refund customer=Ada product=.everything", "not be refunded already"),
    ([bought, refunded], "declineRefund customer=Ada product=.everything", "not be refunded already"),
    ([bought], "reverseRefund customer=Ada product=.everything", "be refunded"),
    ([bought, shared], "refund customer=Byron product=.everything", "be paid for"),
    (
        [bought, shared, "unshare customer=Ada product=.everything"],
        "reverseRefund customer=Byron product=.everything", "be refunded"
    ),
    ([], "refundApp customer=Ada", "didn't pay"),
    (["acquire customer=Cleo price=4.99", "refundApp customer=Cleo"], "refundApp customer=Cleo", "didn't pay"),
    // Families.
    ([], "leaveFamily customer=Cleo", "isn't in a family"),
    (
        ["acquire customer=Cleo", "buy customer=Cleo product=.everything"],
        "share customer=Cleo product=.everything", "isn't in a family"
    ),
    (["buy customer=Ada product=.coins"], "share customer=Ada product=.coins", "be family-shareable"),
    ([bought, shared], "share customer=Byron product=.everything", "paid for"),
    ([bought, refunded], "share customer=Ada product=.everything", "paid for"),
    ([subscribed, canceled, later], "share customer=Ada product=.monthly", "not have ended"),
    ([bought], "unshare customer=Ada product=.everything", "be shared"),
]

@Test func `a release can be acquired by its number from the instant of its release`() throws {
    var state = Shop.state(at: "2014-09-06T10:00:00Z")
    try state.addCustomer("Ada")
    state.advance(to: Shop.date("2015-06-10T17:59:59Z"))
    #expect(throws: AppStoreStateError.self) { try state.acquire("Ada", release: "120") }
    state.advance(to: Shop.date("2015-06-10T18:00:00Z"))
    try state.acquire("Ada", release: "120")
    #expect(state.acquisitions.map(\.release.build) == ["120"])
}

private let subscribed = "buy customer=Ada product=.monthly"
private let canceled = "cancel customer=Ada product=.monthly"
private let bought = "buy customer=Ada product=.everything"
private let refunded = "refund customer=Ada product=.everything"
private let shared = "share customer=Ada product=.everything"
private let later = "advance to=2026-03-01T00:00:00Z"

@Test(arguments: refusedOperations)
func `the local App Store refuses what the App Store wouldn't offer, and changes nothing`(
    before: [String], operation: String, error: String
) throws {
    func parsed(_ text: String) throws -> AppStoreOperation {
        let words = text.split(separator: " ").map(String.init)
        var operation = AppStoreOperation(try #require(AppStoreOperation.Kind(rawValue: words[0])))
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            try operation.set(parts[0], to: (parts[0] == "product" ? Shop.bundleID : "") + parts[1])
        }
        return operation
    }
    var state = Shop.state(at: "2026-01-10T12:00:00Z")
    for name in ["Ada", "Byron"] {
        try state.addCustomer(name, family: "Lovelace")
        try state.acquire(name)
    }
    try state.addCustomer("Cleo")
    for earlier in before { try state.perform(try parsed(earlier)) }
    var after = state
    let refused = try parsed(operation)
    let thrown = #expect(throws: AppStoreStateError.self) { try after.perform(refused) }
    #expect(thrown.map { "\($0)".contains(error) } == true, "\(String(describing: thrown))")
    #expect(after.transactions == state.transactions && after.notificationNames() == state.notificationNames())
    #expect(after.acquisitions == state.acquisitions && after.subscriptions == state.subscriptions)
}
