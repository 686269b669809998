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
        let isProduction = app.environment == .production
        let original: (date: JSONValue, version: String) =
            switch app.environment {
            case .production: (.instant(Self.day(2014, 9, 6)), "37")
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
            "purchaseDate": .instant(Self.day(2015, 7, 1)), "originalPurchaseDate": .instant(Self.day(2015, 7, 1)),
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
            "subscriptionGroupIdentifier": .string("20828838"),
            "purchaseDate": .instant(signingDate.addingTimeInterval(-86400)),
            "originalPurchaseDate": .instant(signingDate.addingTimeInterval(-86400 * 366)),
            "expiresDate": .instant(signingDate.addingTimeInterval(86400 * 364)),
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
            "recentSubscriptionStartDate": .instant(signingDate.addingTimeInterval(-86400 * 366)),
            "renewalDate": .instant(signingDate.addingTimeInterval(86400 * 364)),
            "appTransactionId": .string("704000000000000001"),
        ]
    }

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
