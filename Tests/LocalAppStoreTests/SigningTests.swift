import CalculatorSeller
import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@testable import LocalAppStore

@Test func `an app transaction has the original version, and is bound only to its device`() throws {
    var state = try Shop.state(of: "Ada")
    state.advance(to: Shop.date("2015-07-01"))
    try state.update("Ada")
    let device = state.accounts[0].devices[0]
    let jws = try Shop.signer.appTransaction(state.acquisitions[0], in: state, for: .device(device))
    let verified = try Shop.verifier.verifyAppTransaction(Array(jws.utf8), now: state.now)
    #expect(verified.payload.originalApplicationVersion == "37")
    #expect(verified.payload.applicationVersion == "120")
    #expect(verified.payload.originalPurchaseDate == Shop.date("2014-09-06T10:00:00Z"))
    #expect(verified.payload.originalPlatform?.rawValue == "iOS")
    #expect(verified.payload.receiptCreationDate == state.now)
    #expect(try verified.payload.deviceBinding()?.matches(deviceVerificationID: device) == true)
    #expect(try verified.payload.deviceBinding()?.matches(deviceVerificationID: UUID()) == false)
}

@Test func `on a Mac the original version is the marketing version`() throws {
    var state = Shop.state()
    try state.addCustomer("Boris")
    try state.acquire("Boris", on: .macOS)
    let payload = try Shop.payload(state, "Boris")
    #expect(payload.originalApplicationVersion == "1.9")
    #expect(payload.originalPlatform?.rawValue == "macOS")
}

@Test func `every app transaction of the sandbox has version 1.0 and a date in August 2013`() throws {
    let state = try Shop.state(of: "Hana", .sandbox)
    let payload = try Shop.payload(state, "Hana")
    #expect(payload.originalApplicationVersion == "1.0")
    #expect(payload.originalPurchaseDate == Date(timeIntervalSince1970: 1_375_340_400))
    #expect(payload.appAppleID == nil)
    #expect(payload.receiptType?.rawValue == "Sandbox")
    let receipt = try Shop.signer.receipt(of: state.acquisitions[0], in: state, device: state.accounts[0].devices[0])
    let verified = try Shop.verifier.verifyReceipt(receipt, now: state.now)
    #expect(verified.payload.originalAppVersion == "1.0")
    #expect(verified.environment == .sandbox)
}

@Test func `only the app transaction contains a refund of the app, until the customer buys the app again`() throws {
    var state = try Shop.state(of: "Fay")
    let count = state.notifications.count
    state.advance(to: Shop.date("2014-09-10"))
    try state.refundApp("Fay")
    #expect(try Shop.payload(state, "Fay").revocationDate == Shop.date("2014-09-10"))
    #expect(state.notifications.count == count)
    let id = try Shop.payload(state, "Fay").appTransactionID
    state.advance(to: Shop.date("2015-08-01"))
    try state.acquire("Fay")
    let again = try Shop.payload(state, "Fay")
    #expect(again.revocationDate == nil)
    #expect(again.appTransactionID == id)
    #expect(again.originalApplicationVersion == "37")
}

@Test func `a volume license has an end date, a promo code can't be refunded, and a pre-order has its date`() throws {
    var state = Shop.state()
    for name in ["Vera", "Paul", "Olga"] { try state.addCustomer(name) }
    try state.acquire("Vera", way: .volumePurchase, licenseEnds: Shop.date("2015-09-06"))
    try state.acquire("Paul", way: .promoCode)
    try state.acquire("Olga", preorderDate: Shop.date("2014-08-01"))
    let receipt = try Shop.signer.receipt(of: state.acquisitions[0], in: state, device: state.accounts[0].devices[0])
    let payload = try Shop.verifier.verifyReceipt(receipt, now: state.now).payload
    #expect(payload.receiptType == "ProductionVPP")
    #expect(payload.expirationDate == Shop.date("2015-09-06"))
    #expect(try Shop.payload(state, "Olga").preorderDate == Shop.date("2014-08-01"))
    #expect(throws: AppStoreStateError.appNotBought(customer: "Paul", app: Shop.bundleID)) {
        try state.refundApp("Paul")
    }
}

@Test(arguments: ["2012-10-03T09:00:00Z", "2014-09-06T10:00:00Z", "2025-06-01T10:00:00Z"])
func `receipts signed in any year pass verification, and those before June 20, 2013 have no original version`(
    _ time: String
) throws {
    var app = Shop.app()
    app.releases.append(
        AppStoreRelease(platform: .iOS, build: "1", version: "1.0", releasedAt: Shop.date("2010-01-01")))
    app.releases.sort { $0.releasedAt < $1.releasedAt }
    var state = AppStoreState(seed: "receipts", startingAt: Shop.date(time), apps: [app])
    try state.addCustomer("Gus")
    try state.acquire("Gus")
    try state.buy(Shop.everything, "Gus")
    let receipt = try Shop.signer.receipt(of: state.acquisitions[0], in: state, device: state.accounts[0].devices[0])
    let verified = try Shop.verifier.verifyReceipt(receipt, now: state.now)
    #expect((verified.payload.originalAppVersion == nil) == (time < "2013-06-20"))
    #expect(verified.payload.originalPurchaseDate == state.now)
    #expect(verified.payload.inAppPurchases.map(\.productID) == [Shop.everything])
}

@Test func `two local App Stores with the same seed and operations have the same API key, IDs and payloads`() throws {
    func all(_ seed: String) throws -> [JSONValue] {
        let signer = Shop.signer
        var state = AppStoreState(
            seed: seed, startingAt: Shop.date("2014-09-06"), apps: [Shop.app(url: "https://example.com")])
        try state.addCustomer("Ada")
        try state.acquire("Ada")
        try state.buy(Shop.monthly, "Ada")
        state.advance(to: Shop.date("2015-01-01"))
        let device = AppStoreSigner.Recipient.device(state.accounts[0].devices[0])
        var artifacts = [try signer.appTransaction(state.acquisitions[0], in: state, for: device)]
        artifacts += try state.transactions.map { try signer.transaction($0, in: state, for: device) }
        artifacts += try state.subscriptions.map { try signer.renewalInfo($0, in: state, for: device) }
        artifacts += try state.notifications.map { try signer.notification($0, in: state) }
        let key = try ServerAPIKey(seed: seed)
        return try [.string(key.pem), .string(key.keyID), .string(key.issuerID)]
            + artifacts.map { JSONValue.object(try UnverifiedJWS(Array($0.utf8)).payload).withoutSignatures }
    }
    let (one, again, other) = (try all("one"), try all("one"), try all("two"))
    #expect(one == again)
    #expect(one.count == other.count && zip(one, other).allSatisfy { $0 != $1 })
}

extension Shop {
    static func payload(_ state: AppStoreState, _ customer: String) throws -> AppTransactionPayload {
        let account = state.accounts[try state.accountIndex(customer)]
        let jws = try signer.appTransaction(
            state.acquisitions[account.acquisitions[0]], in: state, for: .device(account.devices[0]))
        return try verifier.verifyAppTransaction(Array(jws.utf8), now: state.now).payload
    }
}

extension JSONValue {
    /// ECDSA signatures differ each time; everything else must be the same.
    fileprivate var withoutSignatures: JSONValue {
        switch self {
        case .object(let object):
            .object(
                JSONObject(members: object.members.map { .init(name: $0.name, value: $0.value.withoutSignatures) }))
        case .string(let text) where text.count(where: { $0 == "." }) == 2 && text.hasPrefix("ey"):
            .string(text.split(separator: ".").dropLast().joined(separator: "."))
        default: self
        }
    }
}
