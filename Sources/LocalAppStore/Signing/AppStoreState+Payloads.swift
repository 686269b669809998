import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint

/// Writes the payloads of artifacts, with Apple's field names in Apple's order. Fields that don't apply are left out.
extension AppStoreState {
    /// The original purchase date that the sandbox reports for every customer: 2013-08-01T07:00:00Z.
    static let sandboxPurchaseDate = Date(timeIntervalSince1970: 1_375_340_400)
    /// The original version of the app that the sandbox reports for every customer.
    static let sandboxVersion = "1.0"

    /// Returns the payload of an app transaction that is signed now.
    func appTransaction(_ acquisition: AppStoreAcquisition, for recipient: AppStoreSigner.Recipient) -> JSONObject {
        let app = apps[acquisition.app]
        let installed = acquisition.installedRelease
        var payload: JSONObject = ["receiptType": .string(environment.rawValue)]
        if environment.isProduction { payload["appAppleId"] = .integer(app.appAppleID) }
        payload["bundleId"] = .string(app.bundleID)
        if case .device = recipient {
            payload["applicationVersion"] = .string(installed.reportedVersion(on: acquisition.installedPlatform))
            if environment.isProduction {
                payload["versionExternalIdentifier"] = .integer(externalIdentifier(of: installed, app: acquisition.app))
            }
        }
        let version = acquisition.release.reportedVersion(on: acquisition.platform)
        payload.add([
            "receiptCreationDate": .instant(now),
            "originalPurchaseDate": .instant(environment.isProduction ? acquisition.date : Self.sandboxPurchaseDate),
            "originalApplicationVersion": .string(environment.isProduction ? version : Self.sandboxVersion),
        ])
        addDeviceVerification(to: &payload, nonceSeed: "app \(acquisition.index)", for: recipient, at: now)
        if environment.isProduction { payload["preorderDate"] = acquisition.preorderDate.map(JSONValue.instant) }
        payload["appTransactionId"] = .string(id(of: acquisition))
        payload["originalPlatform"] = .string(acquisition.platform.rawValue)
        // Only an app transaction of a device contains the revocation date.
        if case .device = recipient { payload["revocationDate"] = acquisition.refundedAt.map(JSONValue.instant) }
        return payload
    }

    /// Returns the payload of a transaction.
    func payload(of transaction: AppStoreTransaction, for recipient: AppStoreSigner.Recipient, signedAt date: Date)
        -> JSONObject
    {
        let product = products[transaction.product]
        let ownership: OwnershipType = transaction.isFamilyShared ? .familyShared : .purchased
        var payload = JSONObject()
        payload.add([
            "originalTransactionId": .string(ids.transaction(transaction.originalTransaction)),
            "transactionId": .string(id(of: transaction)),
        ])
        if product.type == .autoRenewable {
            payload["webOrderLineItemId"] = .string(ids.webOrderLineItem(transaction.index))
        }
        payload.add([
            "bundleId": .string(apps[transaction.app].bundleID), "productId": .string(product.id),
            "subscriptionGroupIdentifier": groupID(ofProduct: transaction.product).map(JSONValue.string),
            "purchaseDate": .instant(transaction.purchaseDate),
            "originalPurchaseDate": .instant(transaction.originalPurchaseDate),
            "expiresDate": transaction.expiresDate.map(JSONValue.instant), "quantity": .integer(transaction.quantity),
            "type": .string(product.type.rawValue), "appAccountToken": Self.json(transaction.appAccountToken),
            "inAppOwnershipType": .string(ownership.rawValue), "signedDate": .instant(date),
        ])
        if let revocation = transaction.revocation {
            payload.add([
                "revocationDate": .instant(revocation.date), "revocationReason": .integer(revocation.reason.rawValue),
                "revocationType": .string(revocation.type.rawValue),
                "revocationPercentage": revocation.percentage.map(JSONValue.integer),
            ])
        }
        // The App Store leaves out the field if it is false.
        if transaction.isUpgraded { payload["isUpgraded"] = .boolean(true) }
        write(transaction.offer, to: &payload)
        payload.add([
            "environment": .string(environment.rawValue), "storefront": .string(transaction.storefront.code),
            "storefrontId": .string(transaction.storefront.id),
            "transactionReason": .string(transaction.reason.rawValue),
            "currency": .string(transaction.storefront.currency), "price": .integer(transaction.price),
            "appTransactionId": appTransactionID(of: transaction.account, app: transaction.app),
        ])
        addDeviceVerification(to: &payload, nonceSeed: "transaction \(transaction.index)", for: recipient, at: date)
        return payload
    }

    /// Returns the payload of the renewal info of a subscription.
    func renewalInfo(of subscription: Subscription, for recipient: AppStoreSigner.Recipient, signedAt date: Date)
        -> JSONObject
    {
        let current = transactions[subscription.currentTransaction]
        var payload = JSONObject()
        payload.add([
            "originalTransactionId": .string(ids.transaction(subscription.originalTransaction)),
            "autoRenewProductId": .string(products[subscription.renewsAs].id),
            "productId": .string(products[subscription.product].id),
            "autoRenewStatus": .integer((subscription.autoRenews ? AutoRenewStatus.on : .off).rawValue),
        ])
        switch subscription.state {
        case .active, .revoked: break
        case .gracePeriod, .billingRetry:
            payload["expirationIntent"] = .integer(ExpirationIntent.billingError.rawValue)
            payload["isInBillingRetryPeriod"] = .boolean(true)
            payload["gracePeriodExpiresDate"] = subscription.gracePeriodEnd.map(JSONValue.instant)
        case .expired(let intent):
            payload["expirationIntent"] = .integer(intent.rawValue)
            payload["isInBillingRetryPeriod"] = .boolean(false)
        }
        payload["priceIncreaseStatus"] = (subscription.priceIncrease?.status.rawValue).map(JSONValue.integer)
        write(subscription.nextOffer, to: &payload)
        if subscription.autoRenews {
            payload["renewalPrice"] = .integer(subscription.renewalPrice)
            payload["currency"] = .string(accounts[subscription.account].storefront.currency)
        }
        payload.add([
            "signedDate": .instant(date), "environment": .string(environment.rawValue),
            "recentSubscriptionStartDate": .instant(subscription.streakBegan),
            "renewalDate": current.expiresDate.map(JSONValue.instant),
        ])
        if !subscription.isRunning, subscription.sharedFrom == nil {
            let offers = products[subscription.product].offers.filter { $0.type == .winBack }.compactMap(\.id)
            if !offers.isEmpty { payload["eligibleWinBackOfferIds"] = .array(offers.map(JSONValue.string)) }
        }
        payload["appAccountToken"] = Self.json(current.appAccountToken)
        payload["appTransactionId"] = appTransactionID(of: subscription.account, app: subscription.app)
        addDeviceVerification(to: &payload, nonceSeed: "renewal \(subscription.index)", for: recipient, at: date)
        return payload
    }

    /// Returns the summary in a notification about extended renewal dates.
    func summary(_ result: ExtensionSummary, app: Int) -> JSONObject {
        var summary = appMembers(app)
        let storefronts = result.storefronts.map(JSONValue.string)
        summary.add([
            "productId": .string(products[result.product].id), "requestIdentifier": .string(result.requestIdentifier),
            "storefrontCountryCodes": storefronts.isEmpty ? nil : .array(storefronts),
            "succeededCount": .integer(Int64(result.succeeded)), "failedCount": .integer(Int64(result.failed)),
        ])
        return summary
    }

    /// The fields that identify the app of a notification. A test notification of the sandbox leaves out the app's ID.
    func appMembers(_ app: Int, isTest: Bool = false) -> JSONObject {
        var members = JSONObject()
        if environment.isProduction || !isTest { members["appAppleId"] = .integer(apps[app].appAppleID) }
        members.add(["bundleId": .string(apps[app].bundleID), "environment": .string(environment.rawValue)])
        return members
    }

    /// The number by which production artifacts identify a release (`versionExternalIdentifier`): an invented number of
    /// nine digits, different for each release.
    func externalIdentifier(of release: AppStoreRelease, app: Int) -> Int64 {
        861_000_000 + Int64((apps[app].releases.firstIndex(of: release) ?? 0) + app * 10_000)
    }

    /// The ID of the account's app transaction; nil if the account never got the app.
    private func appTransactionID(of account: Int, app: Int) -> JSONValue? {
        acquisition(of: account, app: app).map { .string(id(of: $0)) }
    }

    private static func json(_ uuid: UUID?) -> JSONValue? { (uuid?.uuidString.lowercased()).map(JSONValue.string) }

    /// Adds the fields of an offer. Does nothing without an offer.
    private func write(_ offer: SubscriptionOffer?, to payload: inout JSONObject) {
        guard let offer else { return }
        // Apple writes weeks as `P1W` and `P2W`.
        let (period, weeks) = (offer.period, offer.period.days / 7)
        let isWeeks = period.months == 0 && weeks * 7 == period.days
        payload.add([
            "offerType": .integer(offer.type.rawValue), "offerIdentifier": offer.id.map(JSONValue.string),
            "offerDiscountType": .string(offer.discount.rawValue),
            "offerPeriod": .string(isWeeks ? "P\(weeks)W" : period.iso8601),
        ])
    }

    /// Adds a nonce, and the hash of the nonce and the device's ID, with which the device checks that the artifact is
    /// its own. Does nothing for an artifact for a server.
    ///
    /// - Parameter nonceSeed: the artifact's kind and index. Together with `date`, it determines the nonce.
    private func addDeviceVerification(
        to payload: inout JSONObject, nonceSeed: String, for recipient: AppStoreSigner.Recipient, at date: Date
    ) {
        guard case .device(let device) = recipient else { return }
        let nonce = ids.uuid("nonce \(nonceSeed) \(Int64(date.timeIntervalSince1970 * 1000))")
        let hash = DeviceVerification.hash(nonce: nonce, deviceVerificationID: device)
        payload["deviceVerification"] = .string(Base64.standard.text(hash))
        payload["deviceVerificationNonce"] = .string(nonce.uuidString.lowercased())
    }
}
