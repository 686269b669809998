import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint

/// A transaction of an invented customer, as the App Store knows it at some instant.
struct SimulatedPurchase {
    var id: String
    var original: String
    var product: String
    var type: ProductType
    var purchased: Date
    var expires: Date?
    var revoked: Date?
    var isUpgraded = false
    var isFamilyShared = false
    /// The `appTransactionId`; nil before 2025.
    var acquisition: String?
    var token: String?

    func fields(signed: Date) -> [String: JSONValue] {
        [
            "transactionId": .string(id), "originalTransactionId": .string(original), "productId": .string(product),
            "type": .string(type.rawValue), "purchaseDate": .instant(purchased),
            "originalPurchaseDate": .instant(purchased), "signedDate": .instant(signed),
            "expiresDate": expires.map { .instant($0) } ?? .null,
            "revocationDate": revoked.map { .instant($0) } ?? .null,
            "revocationReason": revoked == nil ? .null : .integer(0),
            "isUpgraded": isUpgraded ? .boolean(true) : .null,
            "inAppOwnershipType": .string((isFamilyShared ? OwnershipType.familyShared : .purchased).rawValue),
            "appTransactionId": acquisition.map { .string($0) } ?? .null,
            "appAccountToken": token.map { .string($0) } ?? .null,
        ]
    }
}

/// The renewal info of a subscription.
struct SimulatedRenewal {
    var original: String
    var product: String
    var next: String
    var renews = true
    var grace: Date?
    var isInBillingRetry = false
    var acquisition: String?

    func fields(signed: Date) -> [String: JSONValue] {
        [
            "originalTransactionId": .string(original), "productId": .string(product),
            "autoRenewProductId": .string(next), "autoRenewStatus": .integer(renews ? 1 : 0),
            "gracePeriodExpiresDate": grace.map { .instant($0) } ?? .null,
            "isInBillingRetryPeriod": isInBillingRetry ? .boolean(true) : .null, "signedDate": .instant(signed),
            "appTransactionId": acquisition.map { .string($0) } ?? .null,
        ]
    }
}

extension JWSMinter {
    /// Signs a purchase without a device, as Apple's servers do.
    func nested(_ purchase: SimulatedPurchase) throws -> JSONValue {
        let unbound: [String: JSONValue] = ["deviceVerification": .null, "deviceVerificationNonce": .null]
        return .string(
            try text(.transaction, purchase.fields(signed: signingDate).merging(unbound) { $1 }))
    }

    func nested(_ renewal: SimulatedRenewal) throws -> JSONValue {
        .string(try text(.renewalInfo, renewal.fields(signed: signingDate)))
    }

    /// Returns a notification with these parts.
    func notification(
        _ type: String, _ subtype: String? = nil, uuid: String, of purchase: SimulatedPurchase? = nil,
        renewal: SimulatedRenewal? = nil, data changes: [String: JSONValue] = [:]
    ) throws -> String {
        var data = JSONObject()
        data["appAppleId"] = .integer(app.appAppleID)
        data["bundleId"] = .string(app.bundleID)
        data["bundleVersion"] = .string("310")
        data["environment"] = .string(app.environment.rawValue)
        if let purchase { data["signedTransactionInfo"] = try nested(purchase) }
        if let renewal { data["signedRenewalInfo"] = try nested(renewal) }
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) { data[name] = value == .null ? nil : value }
        return try notification(type, subtype, uuid: uuid, part: "data", data)
    }

    /// Returns a notification that isn't about a purchase.
    func notification(
        _ type: String, _ subtype: String? = nil, uuid: String, part: String, _ object: JSONObject
    ) throws -> String {
        var payload = JSONObject()
        payload["notificationType"] = .string(type)
        payload["subtype"] = subtype.map { .string($0) }
        payload["notificationUUID"] = .string(uuid)
        payload[part] = .object(object)
        payload["version"] = .string("2.0")
        payload["signedDate"] = .instant(signingDate)
        return String(decoding: try mint(payload: payload), as: UTF8.self)
    }
}
