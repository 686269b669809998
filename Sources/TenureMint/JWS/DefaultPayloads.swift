import Foundation
package import TenureAppStore
import TenureCore
package import TenureJSON

extension JWSMinter {
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
        var payload = JSONObject()
        payload["receiptType"] = .string(app.environment.rawValue)
        if app.environment == .production { payload["appAppleId"] = .integer(app.appAppleID) }
        payload["bundleId"] = .string(app.bundleID)
        payload["applicationVersion"] = .string(app.environment == .xcode ? "1" : "310")
        if app.environment == .production { payload["versionExternalIdentifier"] = .integer(861_000_310) }
        payload["receiptCreationDate"] = .instant(signingDate)
        switch app.environment {
        case .production:
            payload["originalPurchaseDate"] = .instant(Self.day(2014, 9, 6))
            payload["originalApplicationVersion"] = .string("37")
        case .sandbox:
            // 2013-08-01T07:00:00Z, in milliseconds.
            payload["originalPurchaseDate"] = .integer(1_375_340_400_000)
            payload["originalApplicationVersion"] = .string("1.0")
        case .xcode:
            // `Date.distantPast`, in milliseconds.
            payload["originalPurchaseDate"] = .integer(-62_135_769_600_000)
            payload["originalApplicationVersion"] = .string("1")
        }
        bind(&payload)
        if app.environment != .xcode {
            payload["appTransactionId"] = .string("704000000000000001")
            payload["originalPlatform"] = .string("iOS")
        }
        return payload
    }

    private var transaction: JSONObject {
        var payload = JSONObject()
        payload["transactionId"] = .string("410000000000001")
        payload["originalTransactionId"] = .string("410000000000001")
        payload["bundleId"] = .string(app.bundleID)
        payload["productId"] = .string("\(app.bundleID).everything")
        payload["purchaseDate"] = .instant(Self.day(2015, 7, 1))
        payload["originalPurchaseDate"] = .instant(Self.day(2015, 7, 1))
        payload["quantity"] = .integer(1)
        payload["type"] = .string(ProductType.nonConsumable.rawValue)
        payload["inAppOwnershipType"] = .string(OwnershipType.purchased.rawValue)
        payload["signedDate"] = .instant(signingDate)
        payload["environment"] = .string(app.environment.rawValue)
        payload["transactionReason"] = .string(TransactionReason.purchase.rawValue)
        payload["storefront"] = .string("USA")
        payload["storefrontId"] = .string("143441")
        payload["price"] = .integer(9990)
        payload["currency"] = .string("USD")
        payload["appTransactionId"] = .string("704000000000000001")
        bind(&payload)
        return payload
    }

    /// The transaction in the default notification: a subscription's current period of a year, which began a day before
    /// the signing date. `renewalInfo` is about the same subscription.
    var nestedTransaction: JSONObject {
        var payload = transaction
        payload["transactionId"] = .string("410000000000022")
        payload["originalTransactionId"] = .string("410000000000020")
        payload["webOrderLineItemId"] = .string("410000000000120")
        payload["productId"] = .string("\(app.bundleID).yearly")
        payload["subscriptionGroupIdentifier"] = .string("20828838")
        payload["purchaseDate"] = .instant(signingDate.addingTimeInterval(-86400))
        payload["originalPurchaseDate"] = .instant(signingDate.addingTimeInterval(-86400 * 366))
        payload["expiresDate"] = .instant(signingDate.addingTimeInterval(86400 * 364))
        payload["type"] = .string(ProductType.autoRenewable.rawValue)
        payload["transactionReason"] = .string(TransactionReason.renewal.rawValue)
        payload["deviceVerification"] = nil
        payload["deviceVerificationNonce"] = nil
        return payload
    }

    private var renewalInfo: JSONObject {
        var payload = JSONObject()
        payload["originalTransactionId"] = .string("410000000000020")
        payload["autoRenewProductId"] = .string("\(app.bundleID).yearly")
        payload["productId"] = .string("\(app.bundleID).yearly")
        payload["autoRenewStatus"] = .integer(AutoRenewStatus.on.rawValue)
        payload["renewalPrice"] = .integer(19990)
        payload["currency"] = .string("USD")
        payload["signedDate"] = .instant(signingDate)
        payload["environment"] = .string(app.environment.rawValue)
        payload["recentSubscriptionStartDate"] = .instant(signingDate.addingTimeInterval(-86400 * 366))
        payload["renewalDate"] = .instant(signingDate.addingTimeInterval(86400 * 364))
        payload["appTransactionId"] = .string("704000000000000001")
        return payload
    }

    private func notification() throws -> JSONObject {
        var data = JSONObject()
        data["appAppleId"] = .integer(app.appAppleID)
        data["bundleId"] = .string(app.bundleID)
        data["bundleVersion"] = .string("310")
        data["environment"] = .string(app.environment.rawValue)
        data["signedTransactionInfo"] = .string(String(decoding: try mint(payload: nestedTransaction), as: UTF8.self))
        data["signedRenewalInfo"] = .string(String(decoding: try mint(payload: renewalInfo), as: UTF8.self))
        data["status"] = .integer(SubscriptionStatus.active.rawValue)

        var payload = JSONObject()
        payload["notificationType"] = .string(NotificationType.didRenew.rawValue)
        payload["notificationUUID"] = .string("3a4b0d0e-0000-4000-8000-000000000001")
        payload["data"] = .object(data)
        payload["version"] = .string("2.0")
        payload["signedDate"] = .instant(signingDate)
        return payload
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

    /// Returns 10:00 UTC on a day.
    private static func day(_ year: Int, _ month: Int, _ day: Int) -> Date {
        let calendar = Calendar(identifier: .gregorian)
        let parts = DateComponents(timeZone: .gmt, year: year, month: month, day: day, hour: 10)
        return calendar.date(from: parts) ?? .distantPast
    }
}

extension JSONObject {
    /// The app transaction as the App Store signs it for a server, which isn't bound to a device.
    package var signedForServer: JSONObject {
        let deviceFields = [
            "applicationVersion", "versionExternalIdentifier", "deviceVerification", "deviceVerificationNonce",
        ]
        return JSONObject(members: members.filter { !deviceFields.contains($0.name) })
    }
}
