import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint
import Testing

@Suite struct JWSEvidenceTests {
    private let verifier: AppStoreVerifier
    private let minter = Minted.minter

    init() throws {
        verifier = try Minted.verifier()
    }

    @Test func `a verified app transaction proves the ID, original version, platform and dates`() throws {
        let jws = try minter.mint(
            .appTransaction,
            setting: ["revocationDate": .integer(1_500_000_000_000), "preorderDate": .integer(1_400_000_000_000)])
        let proof = try verifier.verifyAppTransaction(jws, now: nil).proof
        #expect(proof.kind == .appTransaction)
        #expect(proof.signedDate == Minted.instant)
        #expect(proof.id == .appTransaction("704000000000000001"))
        #expect(proof.originalPlatform == .iOS)
        #expect(proof.originalAppVersion == "37")
        #expect(proof.originalPurchaseDate == Date(timeIntervalSince1970: 1_409_997_600))
        #expect(proof.revocationDate == Date(timeIntervalSince1970: 1_500_000_000))
        #expect(proof.preorderDate == Date(timeIntervalSince1970: 1_400_000_000))
    }

    @Test func `an empty ID in a JWS payload is read as absent`() throws {
        let empty = JSONValue.string("")
        let app = try verifier.verifyAppTransaction(
            minter.mint(.appTransaction, setting: ["appTransactionId": empty]), now: nil)
        #expect(app.payload.appTransactionID == nil)
        #expect(app.proof.id == nil)
        let ids = [
            "appTransactionId", "originalTransactionId", "transactionId", "webOrderLineItemId", "appAccountToken",
        ]
        let setting = Dictionary(uniqueKeysWithValues: ids.map { ($0, empty) })
        let transaction = try verifier.verifyTransaction(minter.mint(.transaction, setting: setting), now: nil)
        let payload = transaction.payload
        #expect(payload.appTransactionID == nil && payload.originalTransactionID == nil)
        #expect(payload.transactionID == nil && payload.webOrderLineItemID == nil && payload.appAccountToken == nil)
        #expect(rejection { try transaction.purchase }?.code == .malformed)
        let renewalInfo = try verifier.verifyRenewalInfo(
            minter.mint(.renewalInfo, setting: ["appTransactionId": empty, "originalTransactionId": empty]), now: nil)
        #expect(renewalInfo.payload.appTransactionID == nil && renewalInfo.payload.originalTransactionID == nil)
        #expect(rejection { try renewalInfo.renewal }?.code == .malformed)
    }

    @Test func `an unknown originalPlatform of an app transaction is read as absent`() throws {
        let jws = try minter.mint(.appTransaction, setting: ["originalPlatform": .string("carOS")])
        #expect(try verifier.verifyAppTransaction(jws, now: nil).proof.originalPlatform == nil)
        let iPad = try minter.mint(.appTransaction, setting: ["originalPlatform": .string("iPadOS")])
        #expect(try verifier.verifyAppTransaction(iPad, now: nil).proof.originalPlatform == .iOS)
    }

    @Test func `a verified transaction proves a purchase`() throws {
        let purchase = try verifier.verifyTransaction(minter.mint(.transaction), now: nil).purchase
        #expect(purchase.transactionID == "410000000000001")
        #expect(purchase.productID == "com.example.calculator.everything")
        #expect(purchase.type == .nonConsumable)
        #expect(!purchase.isFamilyShared && !purchase.isUpgraded)
        #expect(purchase.signedDate == Minted.instant)
        let other = try minter.mint(
            .transaction,
            setting: [
                "type": .string("Rental"), "inAppOwnershipType": .string("FAMILY_SHARED"), "isUpgraded": .boolean(true),
                "revocationDate": .integer(1_600_000_000_000), "expiresDate": .integer(1_700_000_000_000),
                "originalTransactionId": .string("9"),
            ])
        let second = try verifier.verifyTransaction(other, now: nil).purchase
        #expect(second.type == .unknown("Rental"))
        #expect(second.isFamilyShared && second.isUpgraded)
        #expect(second.originalTransactionID == "9")
        #expect(second.revocationDate == Date(timeIntervalSince1970: 1_600_000_000))
        #expect(second.expiresDate == Date(timeIntervalSince1970: 1_700_000_000))
    }

    @Test(arguments: ["transactionId", "productId"])
    func `a transaction without a transaction ID or a product ID proves no purchase`(name: String) throws {
        for value in [JSONValue.null, .string("")] {
            let jws = try minter.mint(.transaction, setting: [name: value])
            #expect(rejection { try verifier.verifyTransaction(jws, now: nil).purchase }?.code == .malformed)
        }
    }

    @Test func `verified renewal info proves the state of a subscription`() throws {
        let jws = try minter.mint(
            .renewalInfo,
            setting: [
                "gracePeriodExpiresDate": .integer(1_700_000_000_000), "isInBillingRetryPeriod": .boolean(true),
                "autoRenewProductId": .string("com.example.calculator.monthly"),
            ])
        let renewal = try verifier.verifyRenewalInfo(jws, now: nil).renewal
        #expect(renewal.originalTransactionID == "410000000000020")
        #expect(renewal.productID == "com.example.calculator.yearly")
        #expect(renewal.gracePeriodExpiresDate == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(renewal.isInBillingRetryPeriod)
        let without = try minter.mint(.renewalInfo, setting: ["originalTransactionId": .null])
        #expect(rejection { try verifier.verifyRenewalInfo(without, now: nil).renewal }?.code == .malformed)
    }

    @Test func `a verified notification gives its transaction and renewal info as evidence`() throws {
        let result = try verifier.verifyNotification(minter.mint(.notification), now: nil)
        #expect(result.notification.payload.notificationType == .known(.didRenew))
        #expect(result.notification.payload.data?.status == .known(.active))
        #expect(
            try result.transaction?.purchase.originalTransactionID == result.renewalInfo?.renewal.originalTransactionID)
        #expect(result.appTransaction == nil)
    }

    /// Returns a verifier that accepts Production and Sandbox, and a minter for each of the two.
    private static func bothEnvironments() throws -> (verifier: AppStoreVerifier, minters: [JWSMinter]) {
        let anchors = try Minted.authority.anchors
        let verifier = AppStoreVerifier(
            app: Minted.app, trust: try TrustConfiguration(anchors: [.production: anchors, .sandbox: anchors]))
        let minters = [AppStoreEnvironment.production, .sandbox].map {
            JWSMinter(authority: Minted.authority, app: MintedApp(environment: $0), signedAt: Minted.instant)
        }
        return (verifier, minters)
    }

    @Test func `evidence of one environment leaves out every kind of artifact of another environment`() throws {
        let (verifier, minters) = try Self.bothEnvironments()
        for minter in minters {
            let receipts = ReceiptMinter(authority: minter.authority, app: minter.app, signedAt: Minted.instant)
            let artifacts: [(VerifiedArtifact, acquisitions: Int, purchases: Int)] = [
                (.appTransaction(try verifier.verifyAppTransaction(minter.mint(.appTransaction), now: nil)), 1, 0),
                (.transaction(try verifier.verifyTransaction(minter.mint(.transaction), now: nil)), 0, 1),
                (.notification(try verifier.verifyNotification(minter.mint(.notification), now: nil)), 0, 1),
                (.receipt(try verifier.verifyReceipt(receipts.mint(), now: nil)), 1, 1),
            ]
            for (artifact, acquisitions, purchases) in artifacts {
                for environment in [AppStoreEnvironment.production, .sandbox] {
                    let evidence = try Evidence(in: environment, from: [artifact], purchasesAreComplete: true)
                    let isOwn = environment == minter.app.environment
                    #expect(evidence.environment == environment)
                    #expect(evidence.acquisitions.count == (isOwn ? acquisitions : 0), "\(artifact)")
                    #expect(evidence.purchases.count == (isOwn ? purchases : 0), "\(artifact)")
                }
            }
        }
    }

    @Test func `renewal info of another environment doesn't extend a subscription with the same transaction ID`() throws
    {
        let (verifier, minters) = try Self.bothEnvironments()
        let subscription = try minters[0].mint(
            .transaction,
            setting: [
                "type": .string("Auto-Renewable Subscription"), "productId": .string("com.example.calculator.yearly"),
                "originalTransactionId": .string("410000000000020"), "expiresDate": .integer(1_795_000_000_000),
            ])
        let transaction = VerifiedArtifact.transaction(try verifier.verifyTransaction(subscription, now: nil))
        let ends = try minters.map { minter in
            let jws = try minter.mint(.renewalInfo, setting: ["gracePeriodExpiresDate": .integer(1_796_000_000_000)])
            let renewal = VerifiedArtifact.renewalInfo(try verifier.verifyRenewalInfo(jws, now: nil))
            return try Evidence(in: .production, from: [transaction, renewal], purchasesAreComplete: true)
                .purchases.map(\.gracePeriodExpiresDate)
        }
        #expect(ends == [[Date(timeIntervalSince1970: 1_796_000_000)], [nil]])
    }

    /// `appData` of a notification, with an app transaction.
    private func appData(bundleID: String = "com.example.calculator") throws -> JSONValue {
        let app = try minter.mint(payload: minter.payload(of: .appTransaction).signedForServer)
        var data = JSONObject()
        data["appAppleId"] = .integer(828_838_134)
        data["bundleId"] = .string(bundleID)
        data["environment"] = .string("Production")
        data["signedAppTransactionInfo"] = .string(String(decoding: app, as: UTF8.self))
        return .object(data)
    }

    @Test func `a notification's app transaction is ignored if the notification has a transaction`() throws {
        let both = try verifier.verifyNotification(
            minter.mint(.notification, setting: ["appData": appData()]), now: nil)
        #expect(both.appTransaction == nil && both.transaction != nil)
    }

    @Test func `a notification of withdrawn parental consent is verified with the app transaction that it contains`()
        throws
    {
        func notification(bundleID: String) throws -> [UInt8] {
            try minter.mint(
                .notification,
                setting: [
                    "notificationType": .string("RESCIND_CONSENT"), "data": .null,
                    "appData": appData(bundleID: bundleID),
                ])
        }
        let result = try verifier.verifyNotification(notification(bundleID: "com.example.calculator"), now: nil)
        #expect(result.appTransaction?.payload.appTransactionID == "704000000000000001")
        let anyApp = try Minted.verifier(app: AppIdentity())
        #expect(
            rejection { try anyApp.verifyNotification(notification(bundleID: "com.example.other"), now: nil) }?.code
                == .wrongApp)
    }

    @Test func `a notification with an unknown kind of payload is rejected if it is for another app`() throws {
        func notification(bundleID: JSONValue) throws -> [UInt8] {
            var part = JSONObject()
            part["appAppleId"] = .integer(828_838_134)
            part["bundleId"] = bundleID
            part["environment"] = .string("Production")
            return try minter.mint(
                .notification,
                setting: [
                    "notificationType": .string("SOMETHING_NEW"), "data": .null, "other": .object(JSONObject()),
                    "newData": .object(part),
                ])
        }
        let known = try verifier.verifyNotification(notification(bundleID: .string("com.example.calculator")), now: nil)
        #expect(known.notification.environment == .production)
        #expect(known.notification.payload.notificationType?.rawValue == "SOMETHING_NEW")
        for other in [JSONValue.string("com.example.other"), .integer(1)] {
            let rejection = rejection { try verifier.verifyNotification(notification(bundleID: other), now: nil) }
            #expect(rejection?.code == .wrongApp)
        }
    }

    @Test func `an external purchase token's prefix states its environment`() throws {
        func notification(_ id: String) throws -> [UInt8] {
            var token = JSONObject()
            token["externalPurchaseId"] = .string(id)
            token["bundleId"] = .string("com.example.calculator")
            token["appAppleId"] = .integer(828_838_134)
            return try minter.mint(
                .notification,
                setting: [
                    "notificationType": .string("EXTERNAL_PURCHASE_TOKEN"), "data": .null,
                    "externalPurchaseToken": .object(token),
                ])
        }
        let id = "b2158121-7af9-49d4-9561-1f588205523e"
        #expect(try verifier.verifyNotification(notification(id), now: nil).notification.environment == .production)
        #expect(
            rejection { try verifier.verifyNotification(notification("SANDBOX_" + id), now: nil) }?.code
                == .wrongEnvironment)
    }

    @Test func `an app transaction's device binding matches only its own device ID`() throws {
        let payload = try verifier.verifyAppTransaction(minter.mint(.appTransaction), now: nil).payload
        let binding = try #require(try payload.deviceBinding())
        #expect(binding.matches(deviceVerificationID: MintedApp.device))
        #expect(!binding.matches(deviceVerificationID: UUID()))
    }

    @Test func `deviceVerification is the hash of the nonce and the device ID in lower case`() throws {
        // SHA-384 of the 72 ASCII bytes, as computed with OpenSSL.
        let nonce = try #require(UUID(uuidString: "48C8B92D-CE0D-4229-BEDF-E61B4F9CFC92"))
        let device = try #require(UUID(uuidString: "7EDEA87D-98F0-42D0-9682-49CA81022F73"))
        let hash = DeviceVerification.hash(nonce: nonce, deviceVerificationID: device)
        #expect(
            hash.hexadecimal.uppercased()
                == "303CB59B8D9F33694147F8FCC8AD2CB6BBB71FE5907C76B82C34797DD412BF11085A26CCECCEBA177963293D6A7FBC63")
    }

    @Test(arguments: ["AAAA", "no base64", ""])
    func `a deviceVerification that can't be read is malformed`(hash: String) throws {
        let jws = try minter.mint(.appTransaction, setting: ["deviceVerification": .string(hash)])
        let payload = try verifier.verifyAppTransaction(jws, now: nil).payload
        #expect(rejection { try payload.deviceBinding() }?.code == .malformed)
    }

    @Test
    func `one field of a device binding without the other is malformed, and an artifact without both isn't bound`()
        throws
    {
        let full = try minter.payload(of: .transaction)
        let unbound: [String: JSONValue] = ["deviceVerification": .null, "deviceVerificationNonce": .null]
        for (missing, detail) in [
            ("deviceVerification", "`deviceVerification` must be Base64 of 48 bytes"),
            ("deviceVerificationNonce", "`deviceVerificationNonce` must be a UUID"),
        ] {
            try #require(full[missing] != nil)
            for kind in [JWSKind.appTransaction, .transaction] {
                let jws = try minter.mint(kind, setting: [missing: .null])
                #expect(rejection { try binding(of: jws, kind) }?.detail == detail)
            }
        }
        let nonce = try minter.mint(.transaction, setting: ["deviceVerificationNonce": .string("1")])
        #expect(
            rejection { try binding(of: nonce, .transaction) }?.detail == "`deviceVerificationNonce` must be a UUID")
        #expect(try binding(of: minter.mint(.transaction, setting: unbound), .transaction) == nil)
        let bound = try binding(of: minter.mint(.transaction), .transaction)
        #expect(bound?.matches(deviceVerificationID: MintedApp.device) == true)
    }

    private func binding(of jws: [UInt8], _ kind: JWSKind) throws -> DeviceVerification? {
        kind == .appTransaction
            ? try verifier.verifyAppTransaction(jws, from: .appStoreServer, now: nil).payload.deviceBinding()
            : try verifier.verifyTransaction(jws, now: nil).payload.deviceBinding()
    }

    @Test func `evidence of a notification has its app transaction, and its renewal info`() throws {
        let rescinded = try minter.mint(
            .notification,
            setting: ["notificationType": .string("RESCIND_CONSENT"), "data": .null, "appData": appData()])
        let app = VerifiedArtifact.notification(try verifier.verifyNotification(rescinded, now: nil))
        let acquired = try Evidence(in: .production, from: [app], purchasesAreComplete: false)
        #expect(acquired.acquisitions.count == 1 && acquired.purchases.isEmpty)
        let end = Date(timeIntervalSince1970: 1_830_000_000)
        let renewal = try minter.mint(.renewalInfo, setting: ["gracePeriodExpiresDate": .integer(1_830_000_000_000)])
        guard case .object(var data)? = try minter.payload(of: .notification)["data"] else {
            Issue.record("the notification has no data")
            return
        }
        data["signedRenewalInfo"] = .string(String(decoding: renewal, as: UTF8.self))
        let renewed = try minter.mint(.notification, setting: ["data": .object(data)])
        let notification = VerifiedArtifact.notification(try verifier.verifyNotification(renewed, now: nil))
        let evidence = try Evidence(in: .production, from: [notification], purchasesAreComplete: false)
        #expect(evidence.purchases.map(\.gracePeriodExpiresDate) == [end])
    }

    @Test func `evidence needs the IDs of a transaction and of renewal info, and says which one is missing`() throws {
        func transaction(without name: String) throws -> Verified<TransactionPayload> {
            try verifier.verifyTransaction(minter.mint(.transaction, setting: [name: .null]), now: nil)
        }
        for (name, detail) in [
            ("transactionId", "the transaction has no `transactionId`"),
            ("productId", "the transaction has no `productId`"),
        ] {
            let verified = try transaction(without: name)
            let found = rejection { try verified.purchase }
            #expect(found?.code == .malformed && found?.detail == detail)
        }
        #expect(try transaction(without: "originalTransactionId").purchase.originalTransactionID == "410000000000001")
        let jws = try minter.mint(.renewalInfo, setting: ["originalTransactionId": .null])
        let renewal = try verifier.verifyRenewalInfo(jws, now: nil)
        let found = rejection { try renewal.renewal }
        #expect(found?.code == .malformed && found?.detail == "the renewal info has no `originalTransactionId`")
    }
}
