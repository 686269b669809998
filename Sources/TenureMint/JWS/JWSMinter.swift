import Crypto
package import Foundation
package import TenureAppStore
import TenureCore
package import TenureJSON

/// Creates JWS like the App Store's, signed with the keys of a test authority.
package struct JWSMinter: Sendable {
    package let authority: TestAuthority
    package let app: MintedApp
    /// The signing date of the artifacts.
    package let signingDate: Date

    package init(authority: TestAuthority, app: MintedApp = MintedApp(), signedAt signingDate: Date) {
        self.authority = authority
        self.app = app
        self.signingDate = signingDate
    }

    /// Creates a valid artifact: the default payload of its kind, with the given fields replaced. Null removes a field.
    package func mint(_ kind: JWSKind, setting fields: [String: JSONValue] = [:]) throws -> [UInt8] {
        var payload = try payload(of: kind)
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { payload[name] = value == .null ? nil : value }
        return try mint(payload: payload)
    }

    /// Creates an artifact with any payload and a valid signature. In the environment Xcode, it has Xcode's single
    /// certificate.
    package func mint(payload: JSONObject) throws -> [UInt8] { try JWSDraft(minter: self, payload: payload).sign() }

    /// Creates an artifact with a defect.
    package func mint(_ kind: JWSKind, with defect: JWSDefect) throws -> [UInt8] {
        var draft = try JWSDraft(minter: self, payload: payload(of: kind))
        try defect.corrupt(&draft, kind: kind, by: self)
        return try draft.sign()
    }

    /// Creates an artifact with a defect in its chain of certificates, and the anchors (trusted roots) with which to
    /// verify it.
    package func mint(_ kind: JWSKind, with defect: ChainDefect) throws -> (jws: [UInt8], anchors: TrustAnchors) {
        let chain = try authority.chain(for: .jws, defect: defect, signedAt: signingDate)
        var draft = try JWSDraft(minter: self, payload: payload(of: kind))
        draft.certificates = chain.certificates
        draft.key = chain.leaf.key
        // A chain under another root of the same name must be rejected by verifiers that trust the authority's root. An
        // expired root must be trusted, so that only its expiration is wrong.
        let root = defect == .namesakeRoot ? authority.jws.root : chain.root
        return (try draft.sign(), try TrustAnchors(der: [root.der]))
    }

    /// Returns the default payload of a test customer, who bought the app as build 37 on iOS in 2014, and the product
    /// `everything` in 2015. In Sandbox and Xcode, the payload has the values that these environments always report.
    package func payload(of kind: JWSKind) throws -> JSONObject {
        switch kind {
        case .appTransaction: appTransaction
        case .transaction: transaction
        case .renewalInfo: renewalInfo
        case .notification: try notification()
        case .realtime: throw MintingError("retention messaging requests can't be minted; choose another kind")
        }
    }

    private var appTransaction: JSONObject {
        let isProduction = app.environment == .production
        let original: (date: JSONValue, version: String) =
            switch app.environment {
            case .production: (.instant(MintedApp.purchaseDate), "37")
            // 2013-08-01T07:00:00Z, in milliseconds.
            case .sandbox: (.integer(1_375_340_400_000), "1.0")
            // `Date.distantPast`, in milliseconds.
            case .xcode: (.integer(-62_135_769_600_000), "1")
            }
        var payload = JSONObject()
        payload.add([
            "receiptType": .string(app.environment.rawValue),
            "appAppleId": isProduction ? .integer(app.appAppleID) : nil, "bundleId": .string(app.bundleID),
            "applicationVersion": .string(app.environment == .xcode ? "1" : "310"),
            "versionExternalIdentifier": isProduction ? .integer(861_000_310) : nil,
            "receiptCreationDate": .instant(signingDate), "originalPurchaseDate": original.date,
            "originalApplicationVersion": .string(original.version),
        ])
        bind(&payload)
        if app.environment != .xcode {
            payload.add(["appTransactionId": .string("704000000000000001"), "originalPlatform": .string("iOS")])
        }
        return payload
    }

    private var transaction: JSONObject {
        var payload: JSONObject = [
            "transactionId": .string("410000000000001"), "originalTransactionId": .string("410000000000001"),
            "bundleId": .string(app.bundleID), "productId": .string("\(app.bundleID).everything"),
            "purchaseDate": .instant(MintedApp.everythingDate),
            "originalPurchaseDate": .instant(MintedApp.everythingDate),
            "quantity": .integer(1), "type": .string(ProductType.nonConsumable.rawValue),
            "inAppOwnershipType": .string(OwnershipType.purchased.rawValue), "signedDate": .instant(signingDate),
            "environment": .string(app.environment.rawValue),
            "transactionReason": .string(TransactionReason.purchase.rawValue), "storefront": .string("USA"),
            "storefrontId": .string("143441"), "price": .integer(9990), "currency": .string("USD"),
            "appTransactionId": .string("704000000000000001"),
        ]
        bind(&payload)
        return payload
    }

    /// The transaction in the default notification: a subscription's current period of a year, which began a day before
    /// the signing date. `renewalInfo` is about the same subscription.
    var nestedTransaction: JSONObject {
        var payload = transaction
        payload.add([
            "transactionId": .string("410000000000022"), "originalTransactionId": .string("410000000000020"),
            "webOrderLineItemId": .string("410000000000120"), "productId": .string("\(app.bundleID).yearly"),
            "subscriptionGroupIdentifier": .string("20828838"), "purchaseDate": signingDay(-1),
            "originalPurchaseDate": signingDay(-366), "expiresDate": signingDay(364),
            "type": .string(ProductType.autoRenewable.rawValue),
            "transactionReason": .string(TransactionReason.renewal.rawValue),
        ])
        payload["deviceVerification"] = nil
        payload["deviceVerificationNonce"] = nil
        return payload
    }

    private var renewalInfo: JSONObject {
        [
            "originalTransactionId": .string("410000000000020"),
            "autoRenewProductId": .string("\(app.bundleID).yearly"), "productId": .string("\(app.bundleID).yearly"),
            "autoRenewStatus": .integer(AutoRenewStatus.on.rawValue), "renewalPrice": .integer(19990),
            "currency": .string("USD"), "signedDate": .instant(signingDate),
            "environment": .string(app.environment.rawValue),
            "recentSubscriptionStartDate": signingDay(-366), "renewalDate": signingDay(364),
            "appTransactionId": .string("704000000000000001"),
        ]
    }

    /// Returns the instant `offset` days after the signing date.
    private func signingDay(_ offset: Double) -> JSONValue { .instant(signingDate.addingTimeInterval(offset * 86_400)) }

    private func notification() throws -> JSONObject {
        let transactionInfo = String(decoding: try mint(payload: nestedTransaction), as: UTF8.self)
        let renewalInfo = String(decoding: try mint(payload: renewalInfo), as: UTF8.self)
        let data: JSONObject = [
            "appAppleId": .integer(app.appAppleID), "bundleId": .string(app.bundleID), "bundleVersion": .string("310"),
            "environment": .string(app.environment.rawValue), "signedTransactionInfo": .string(transactionInfo),
            "signedRenewalInfo": .string(renewalInfo), "status": .integer(SubscriptionStatus.active.rawValue),
        ]
        return [
            "notificationType": .string(NotificationType.didRenew.rawValue),
            "notificationUUID": .string("3a4b0d0e-0000-4000-8000-000000000001"), "data": .object(data),
            "version": .string("2.0"), "signedDate": .instant(signingDate),
        ]
    }

    /// Adds the fields that bind an artifact to the test customer's device.
    private func bind(_ payload: inout JSONObject) {
        let nonce = Self.nonce
        let hash = DeviceVerification.hash(nonce: nonce, deviceVerificationID: app.deviceVerificationID)
        payload["deviceVerification"] = .string(Base64.standard.text(hash))
        payload["deviceVerificationNonce"] = .string(nonce.uuidString.lowercased())
    }

    /// The nonce of every default artifact.
    private static let nonce = UUID(uuid: (0x4E, 0x0A, 0xCE, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0x01))
}
