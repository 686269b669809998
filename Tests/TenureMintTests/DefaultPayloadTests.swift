import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import Testing

@testable import TenureMint

/// Every field of the artifacts that are minted without `--set`.
@Suite struct DefaultPayloadTests {
    /// 2026-11-20T12:00:00Z.
    private static let instant = Date(timeIntervalSince1970: 1_795_176_000)
    /// The SHA-384 digest of the default nonce and the default device.
    private static let binding =
        #""deviceVerification":"s7Y/Ol6xXLma6jYhzU9u9YHZHyUqYkBZP2zfHFCMMyCcLiSCmnvfr5mxcv7nDvEE","#
        + #""deviceVerificationNonce":"4e0ace00-0000-4000-8000-000000000001""#
    private static let account = #""appTransactionId":"704000000000000001""#

    private func minter(in environment: AppStoreEnvironment = .production) throws -> JWSMinter {
        JWSMinter(
            authority: try Self.authority.get(), app: MintedApp(environment: environment), signedAt: Self.instant)
    }

    /// Shared by all tests here, because creating RSA keys takes time.
    private static let authority = Result { try TestAuthority() }

    private func text(_ payload: JSONObject) -> String {
        String(decoding: JSONValue.object(payload).bytes, as: UTF8.self)
    }

    /// The fields of an app transaction, in the order in which they are minted.
    private static func appTransaction(in environment: AppStoreEnvironment) -> [String] {
        let app = #""bundleId":"com.example.calculator","applicationVersion":"#
        let created = #""receiptCreationDate":1795176000000"#
        let customer = [binding, account, #""originalPlatform":"iOS""#]
        switch environment {
        case .production:
            return [
                #""receiptType":"Production","appAppleId":828838134"#, app + #""310""#,
                #""versionExternalIdentifier":861000310"#, created,
                #""originalPurchaseDate":1409997600000,"originalApplicationVersion":"37""#,
            ] + customer
        case .sandbox:
            return [
                #""receiptType":"Sandbox""#, app + #""310""#, created,
                #""originalPurchaseDate":1375340400000,"originalApplicationVersion":"1.0""#,
            ] + customer
        case .xcode:
            return [
                #""receiptType":"Xcode""#, app + #""1""#, created,
                #""originalPurchaseDate":-62135769600000,"originalApplicationVersion":"1""#, binding,
            ]
        }
    }

    @Test(arguments: AppStoreEnvironment.allCases)
    func `a minted app transaction has the default fields of its environment`(environment: AppStoreEnvironment) throws {
        let expected = "{\(Self.appTransaction(in: environment).joined(separator: ","))}"
        #expect(text(try minter(in: environment).payload(of: .appTransaction)) == expected)
    }

    @Test func `a minted transaction is a purchase of the full version in 2015`() throws {
        let expected: [String] = [
            #"{"transactionId":"410000000000001","originalTransactionId":"410000000000001","#,
            #""bundleId":"com.example.calculator","productId":"com.example.calculator.everything","#,
            #""purchaseDate":1435744800000,"originalPurchaseDate":1435744800000,"quantity":1,"type":"Non-Consumable","#,
            #""inAppOwnershipType":"PURCHASED","signedDate":1795176000000,"environment":"Sandbox","#,
            #""transactionReason":"PURCHASE","storefront":"USA","storefrontId":"143441","price":9990,"currency":"USD","#,
            Self.account + "," + Self.binding + "}",
        ]
        #expect(text(try minter(in: .sandbox).payload(of: .transaction)) == expected.joined())
    }

    @Test func `a minted notification renews a subscription of a year, and its artifacts belong to one subscription`()
        throws
    {
        let minter = try minter()
        let transaction: [String] = [
            #"{"transactionId":"410000000000022","originalTransactionId":"410000000000020","#,
            #""bundleId":"com.example.calculator","productId":"com.example.calculator.yearly","#,
            #""purchaseDate":1795089600000,"originalPurchaseDate":1763553600000,"quantity":1,"#,
            #""type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED","signedDate":1795176000000,"#,
            #""environment":"Production","transactionReason":"RENEWAL","storefront":"USA","storefrontId":"143441","#,
            #""price":9990,"currency":"USD","# + Self.account + #","webOrderLineItemId":"410000000000120","#,
            #""subscriptionGroupIdentifier":"20828838","expiresDate":1826625600000}"#,
        ]
        let renewal: [String] = [
            #"{"originalTransactionId":"410000000000020","autoRenewProductId":"com.example.calculator.yearly","#,
            #""productId":"com.example.calculator.yearly","autoRenewStatus":1,"renewalPrice":19990,"currency":"USD","#,
            #""signedDate":1795176000000,"environment":"Production","recentSubscriptionStartDate":1763553600000,"#,
            #""renewalDate":1826625600000,"# + Self.account + "}",
        ]
        #expect(text(try minter.payload(of: .renewalInfo)) == renewal.joined())
        var payload = try minter.payload(of: .notification)
        guard case .object(var data)? = payload["data"], case .string(let signed)? = data["signedTransactionInfo"],
            case .string(let signedRenewal)? = data["signedRenewalInfo"]
        else {
            Issue.record("the notification has no signed artifacts")
            return
        }
        #expect(text(try UnverifiedJWS(Array(signed.utf8)).payload) == transaction.joined())
        #expect(text(try UnverifiedJWS(Array(signedRenewal.utf8)).payload) == renewal.joined())
        data["signedTransactionInfo"] = nil
        data["signedRenewalInfo"] = nil
        payload["data"] = .object(data)
        #expect(
            text(payload)
                == #"{"notificationType":"DID_RENEW","notificationUUID":"3a4b0d0e-0000-4000-8000-000000000001","data":{"#
                + #""appAppleId":828838134,"bundleId":"com.example.calculator","bundleVersion":"310","#
                + #""environment":"Production","status":1},"version":"2.0","signedDate":1795176000000}"#)
    }

    @Test func `minted artifacts are for the app and the device of their minter`() throws {
        let device = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
        let app = MintedApp(bundleID: "com.example.notes", appAppleID: 7, deviceVerificationID: device)
        let minter = JWSMinter(authority: try Self.authority.get(), app: app, signedAt: Self.instant)
        let bought = try minter.payload(of: .appTransaction)
        #expect(bought["bundleId"] == .string("com.example.notes") && bought["appAppleId"] == .integer(7))
        let everything = try minter.payload(of: .transaction)
        #expect(everything["bundleId"] == .string("com.example.notes"))
        #expect(everything["productId"] == .string("com.example.notes.everything"))
        #expect(minter.nestedTransaction["productId"] == .string("com.example.notes.yearly"))
        let renewal = try minter.payload(of: .renewalInfo)
        #expect(renewal["productId"] == .string("com.example.notes.yearly"))
        #expect(renewal["autoRenewProductId"] == .string("com.example.notes.yearly"))
        guard case .object(let data)? = try minter.payload(of: .notification)["data"] else {
            Issue.record("the notification has no data")
            return
        }
        #expect(data["bundleId"] == .string("com.example.notes") && data["appAppleId"] == .integer(7))
        // The device is part of the hash, and the nonce is always the same.
        let other = try self.minter().payload(of: .appTransaction)
        #expect(bought["deviceVerification"] != nil && bought["deviceVerification"] != other["deviceVerification"])
        #expect(bought["deviceVerification"] == everything["deviceVerification"])
        #expect(bought["deviceVerificationNonce"] == other["deviceVerificationNonce"])
        let receipt = ReceiptMinter(authority: try Self.authority.get(), app: app, signedAt: Self.instant)
        let draft = receipt.defaultReceipt
        #expect(draft[2] == .text("com.example.notes") && draft[1] == .number(7))
        #expect(draft.purchases.map { $0[1702] } == [.text("com.example.notes.everything")])
        #expect(draft.deviceIdentifier == [UInt8](1...16))
    }

    @Test func `a minted artifact has the given fields, and null removes a field`() throws {
        let jws = try minter().mint(.transaction, setting: ["price": .integer(1), "currency": .null])
        let payload = try UnverifiedJWS(jws).payload
        #expect(payload["price"] == .integer(1) && payload["currency"] == nil)
        #expect(payload.members.count == 18)
        #expect(throws: MintingError("retention messaging requests can't be minted; choose another kind")) {
            try minter().mint(.realtime)
        }
    }

    @Test func `an app transaction for a server has no field about a device`() throws {
        let names = try minter().payload(of: .appTransaction).signedForServer.members.map(\.name)
        #expect(
            names == [
                "receiptType", "appAppleId", "bundleId", "receiptCreationDate", "originalPurchaseDate",
                "originalApplicationVersion", "appTransactionId", "originalPlatform",
            ])
    }

    @Test func `each certificate of a test authority has the number of its role, and is valid from 2008 to 2049`()
        throws
    {
        let authority = try Self.authority.get()
        let jws = try UnverifiedJWS(minter().mint(.transaction)).certificates
        let receipt = try UnverifiedReceipt(
            ReceiptMinter(authority: authority, signedAt: Self.instant).mint()
        ).certificates
        let xcode = try UnverifiedJWS(minter(in: .xcode).mint(.transaction))
        #expect(jws.map(\.serialNumber) == ["540103", "540102", "540101"])
        #expect(receipt.map(\.serialNumber) == ["540203", "540202", "540201"])
        #expect(xcode.certificates.map(\.serialNumber) == ["540104"])
        #expect(xcode.header.members.map(\.name) == ["alg", "x5c", "kid", "typ"])
        for certificate in jws + receipt + xcode.certificates {
            #expect(certificate.notBefore == Date(timeIntervalSince1970: 1_199_145_600))
            #expect(certificate.notAfter == Date(timeIntervalSince1970: 2_493_072_000))
        }
        for chain in [jws, receipt] {
            #expect(chain[0].issuer == chain[1].subject && chain[1].issuer == chain[2].subject)
            #expect(chain[2].issuer == chain[2].subject)
        }
        for (certificate, name) in zip(
            [jws[0], jws[1], receipt[2], xcode.certificates[0]],
            [
                "CN=Tenure Test App Store Receipt Signing", "CN=Tenure Test Developer Relations CA",
                "CN=Tenure Test Root CA", "CN=StoreKit Testing in Xcode",
            ])
        { #expect(certificate.subject.contains(name), "\(certificate.subject)") }
    }

    @Test func `a saved test authority has both roots in roots.pem, and both certificates of Xcode in xcode.pem`()
        throws
    {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("roots-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let authority = try Self.authority.get()
        try authority.save(to: directory)
        func anchors(_ name: String) throws -> [[UInt8]] {
            try TrustAnchors([UInt8](Data(contentsOf: directory.appendingPathComponent(name)))).certificates.map(\.der)
        }
        #expect(try anchors("roots.pem") == [authority.jws.root.der, authority.receipts.root.der])
        #expect(try anchors("xcode.pem") == [authority.xcodeJWS.der, authority.xcodeReceipts.der])
        #expect(try authority.anchors.certificates.map(\.der) == anchors("roots.pem"))
        #expect(try authority.xcodeAnchors.certificates.map(\.der) == anchors("xcode.pem"))
        // An authority that takes the receipts of another authority has another chain for JWS.
        let other = try TestAuthority(receiptsOf: authority)
        #expect(other.receipts.certificates == authority.receipts.certificates)
        #expect(other.xcodeReceipts.der == authority.xcodeReceipts.der)
        #expect(Set(other.jws.certificates).isDisjoint(with: authority.jws.certificates))
    }

    @Test func `a seeded random number up to a limit is below the limit`() {
        var random = SeededRandom(seed: 1_234_567)
        #expect((0..<5).map { _ in random.roll(6) } == [3, 1, 3, 1, 5])
        #expect(random.roll(1) == 0 && random.roll(0) == 0)
    }
}
