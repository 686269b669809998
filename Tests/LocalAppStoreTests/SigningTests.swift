import CalculatorSeller
import Foundation
import LocalAppStore
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@Test func `an app transaction says what was acquired, and only its device recognizes it`() throws {
    var world = try Shop.world(of: "Ada")
    world.advance(to: Shop.date("2015-07-01"))
    try world.update("Ada")
    let device = world.accounts[0].devices[0]
    let jws = try Shop.signer.appTransaction(world.acquisitions[0], in: world, for: .device(device))
    let verified = try Shop.verifier.verifyAppTransaction(Array(jws.utf8), now: world.now)
    #expect(verified.payload.originalApplicationVersion == "37")
    #expect(verified.payload.applicationVersion == "120")
    #expect(verified.payload.originalPurchaseDate == Shop.date("2014-09-06T10:00:00Z"))
    #expect(verified.payload.originalPlatform?.rawValue == "iOS")
    #expect(verified.payload.receiptCreationDate == world.now)
    #expect(try verified.payload.deviceBinding()?.matches(deviceVerificationID: device) == true)
    #expect(try verified.payload.deviceBinding()?.matches(deviceVerificationID: UUID()) == false)
}

@Test func `on a Mac the original version is the marketing version`() throws {
    var world = Shop.world()
    try world.addCustomer("Boris")
    try world.acquire("Boris", on: .macOS)
    let payload = try Shop.payload(world, "Boris")
    #expect(payload.originalApplicationVersion == "1.9")
    #expect(payload.originalPlatform?.rawValue == "macOS")
}

@Test func `the sandbox says 1-0 and August 2013 of everybody`() throws {
    let world = try Shop.world(of: "Hana", .sandbox)
    let payload = try Shop.payload(world, "Hana")
    #expect(payload.originalApplicationVersion == "1.0")
    #expect(payload.originalPurchaseDate == Date(timeIntervalSince1970: 1_375_340_400))
    #expect(payload.appAppleID == nil)
    #expect(payload.receiptType?.rawValue == "Sandbox")
    let receipt = try Shop.signer.receipt(of: world.acquisitions[0], in: world, device: world.accounts[0].devices[0])
    let verified = try Shop.verifier.verifyReceipt(receipt, now: world.now)
    #expect(verified.payload.originalAppVersion == "1.0")
    #expect(verified.environment == .sandbox)
}

@Test func `a refund of the app shows in the app transaction alone, and ends when it is bought again`() throws {
    var world = try Shop.world(of: "Fay")
    let count = world.notifications.count
    world.advance(to: Shop.date("2014-09-10"))
    try world.refundApp("Fay")
    #expect(try Shop.payload(world, "Fay").revocationDate == Shop.date("2014-09-10"))
    #expect(world.notifications.count == count)
    let id = try Shop.payload(world, "Fay").appTransactionID
    world.advance(to: Shop.date("2015-08-01"))
    try world.acquire("Fay")
    let again = try Shop.payload(world, "Fay")
    #expect(again.revocationDate == nil)
    #expect(again.appTransactionID == id)
    #expect(again.originalApplicationVersion == "37")
}

@Test func `a volume license ends, a promo code costs nothing, a pre-order is dated`() throws {
    var world = Shop.world()
    for name in ["Vera", "Paul", "Olga"] { try world.addCustomer(name) }
    try world.acquire("Vera", way: .volumePurchase, licenseEnds: Shop.date("2015-09-06"))
    try world.acquire("Paul", way: .promoCode)
    try world.acquire("Olga", preorderDate: Shop.date("2014-08-01"))
    let receipt = try Shop.signer.receipt(of: world.acquisitions[0], in: world, device: world.accounts[0].devices[0])
    let payload = try Shop.verifier.verifyReceipt(receipt, now: world.now).payload
    #expect(payload.receiptType == "ProductionVPP")
    #expect(payload.expirationDate == Shop.date("2015-09-06"))
    #expect(try Shop.payload(world, "Olga").preorderDate == Shop.date("2014-08-01"))
    #expect(throws: WorldError.appNotBought(customer: "Paul", app: Shop.bundleID)) { try world.refundApp("Paul") }
}

@Test(arguments: ["2012-10-03T09:00:00Z", "2014-09-06T10:00:00Z", "2025-06-01T10:00:00Z"])
func `a receipt of every time verifies, and the oldest know no version`(_ time: String) throws {
    var app = Shop.app()
    app.releases.append(StoreRelease(platform: .iOS, build: "1", version: "1.0", releasedAt: Shop.date("2010-01-01")))
    app.releases.sort { $0.releasedAt < $1.releasedAt }
    var world = World(seed: "receipts", startingAt: Shop.date(time), apps: [app])
    try world.addCustomer("Gus")
    try world.acquire("Gus")
    try world.buy(Shop.everything, "Gus")
    let receipt = try Shop.signer.receipt(of: world.acquisitions[0], in: world, device: world.accounts[0].devices[0])
    let verified = try Shop.verifier.verifyReceipt(receipt, now: world.now)
    #expect((verified.payload.originalAppVersion == nil) == (time < "2013-06-20"))
    #expect(verified.payload.originalPurchaseDate == world.now)
    #expect(verified.payload.inAppPurchases.map(\.productID) == [Shop.everything])
}

@Test func `the same seed and acts give the same keys, ids, headers and payloads, and another seed others`() throws {
    func all(_ seed: String) throws -> [JSONValue] {
        let signer = StoreSigner(authority: try TestAuthority(seed: seed, receiptsOf: Shop.authority))
        var world = World(seed: seed, startingAt: Shop.date("2014-09-06"), apps: [Shop.app(url: "https://example.com")])
        try world.addCustomer("Ada")
        try world.acquire("Ada")
        try world.buy(Shop.monthly, "Ada")
        world.advance(to: Shop.date("2015-01-01"))
        let device = StoreSigner.Reader.device(world.accounts[0].devices[0])
        var artifacts = [try signer.appTransaction(world.acquisitions[0], in: world, for: device)]
        artifacts += try world.transactions.map { try signer.transaction($0, in: world, for: device) }
        artifacts += try world.subscriptions.map { try signer.renewalInfo($0, in: world, for: device) }
        artifacts += try world.notifications.map { try signer.notification($0, in: world) }
        let key = try ServerAPIKey(seed: seed)
        return try [.string(key.pem), .string(key.keyID), .string(key.issuerID)]
            + artifacts.flatMap { jws -> [JSONValue] in
                // The header holds the certificates, and so the keys.
                [
                    .string(String(jws.prefix { $0 != "." })),
                    JSONValue.object(try UnverifiedJWS(Array(jws.utf8)).payload).withoutSignatures,
                ]
            }
    }
    let (one, again, other) = (try all("one"), try all("one"), try all("two"))
    #expect(one == again)
    #expect(one.count == other.count && zip(one, other).allSatisfy { $0 != $1 })
}

extension Shop {
    static func payload(_ world: World, _ customer: String) throws -> AppTransactionPayload {
        let account = world.accounts[try world.accountPlace(customer)]
        let jws = try signer.appTransaction(
            world.acquisitions[account.acquisitions[0]], in: world, for: .device(account.devices[0]))
        return try verifier.verifyAppTransaction(Array(jws.utf8), now: world.now).payload
    }
}

extension JSONValue {
    /// ECDSA signatures differ each time; everything else must not.
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
