import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import TenureMint

/// Writes the payloads of artifacts, with Apple's field names in Apple's order. Fields that don't apply are left out.
extension AppStoreState {
    /// The original purchase date that the sandbox reports for every customer: 2013-08-01T07:00:00Z.
    static let sandboxPurchaseDate = Date(timeIntervalSince1970: 1_375_340_400)
    static let sandboxVersion = "1.0"

    func appTransaction(_ it: AppStoreAcquisition, for reader: AppStoreSigner.Reader) -> JSONObject {
        let app = apps[it.app]
        let installed = it.installedRelease
        var payload = JSONObject()
        payload["receiptType"] = .string(environment.rawValue)
        if environment.isProduction { payload["appAppleId"] = .integer(app.appAppleID) }
        payload["bundleId"] = .string(app.bundleID)
        if case .device = reader {
            payload["applicationVersion"] = .string(installed.reportedVersion(on: it.installedPlatform))
            if environment.isProduction {
                payload["versionExternalIdentifier"] = .integer(Int64(externalIdentifier(of: installed, app: it.app)))
            }
        }
        payload["receiptCreationDate"] = .instant(now)
        payload["originalPurchaseDate"] = .instant(environment.isProduction ? it.date : Self.sandboxPurchaseDate)
        payload["originalApplicationVersion"] = .string(
            environment.isProduction ? it.release.reportedVersion(on: it.platform) : Self.sandboxVersion)
        bind(&payload, "app \(it.index)", for: reader, at: now)
        if environment.isProduction { payload["preorderDate"] = it.preorderDate.map(JSONValue.instant) }
        payload["appTransactionId"] = .string(id(of: it))
        payload["originalPlatform"] = .string(it.platform.rawValue)
        // Only an app transaction of a device contains the revocation date.
        if case .device = reader { payload["revocationDate"] = it.refundedAt.map(JSONValue.instant) }
        return payload
    }

    func payload(of it: AppStoreTransaction, for reader: AppStoreSigner.Reader, signedAt date: Date) -> JSONObject {
        let product = products[it.product]
        let isSubscription = product.type == .autoRenewable
        var payload = JSONObject()
        payload["originalTransactionId"] = .string(ids.transaction(it.original))
        payload["transactionId"] = .string(id(of: it))
        if isSubscription { payload["webOrderLineItemId"] = .string(ids.webOrderLineItem(it.index)) }
        payload["bundleId"] = .string(apps[it.app].bundleID)
        payload["productId"] = .string(product.id)
        payload["subscriptionGroupIdentifier"] = groupID(ofProduct: it.product).map(JSONValue.string)
        payload["purchaseDate"] = .instant(it.purchaseDate)
        payload["originalPurchaseDate"] = .instant(it.originalPurchaseDate)
        payload["expiresDate"] = it.expiresDate.map(JSONValue.instant)
        payload["quantity"] = .integer(it.quantity)
        payload["type"] = .string(product.type.rawValue)
        payload["appAccountToken"] = (it.appAccountToken?.uuidString.lowercased()).map(JSONValue.string)
        let ownership: OwnershipType = it.isFamilyShared ? .familyShared : .purchased
        payload["inAppOwnershipType"] = .string(ownership.rawValue)
        payload["signedDate"] = .instant(date)
        if let revocation = it.revocation {
            payload["revocationDate"] = .instant(revocation.date)
            payload["revocationReason"] = .integer(revocation.reason.rawValue)
            payload["revocationType"] = .string(revocation.type.rawValue)
            payload["revocationPercentage"] = revocation.percentage.map(JSONValue.integer)
        }
        // The App Store leaves out the field if it is false.
        if it.isUpgraded { payload["isUpgraded"] = .boolean(true) }
        write(it.offer, to: &payload)
        payload["environment"] = .string(environment.rawValue)
        payload["storefront"] = .string(it.storefront.code)
        payload["storefrontId"] = .string(it.storefront.id)
        payload["transactionReason"] = .string(it.reason.rawValue)
        payload["currency"] = .string(it.storefront.currency)
        payload["price"] = .integer(it.price)
        payload["appTransactionId"] = acquisition(of: it.account, app: it.app).map { .string(id(of: $0)) }
        bind(&payload, "transaction \(it.index)", for: reader, at: date)
        return payload
    }

    func renewalInfo(of it: Subscription, for reader: AppStoreSigner.Reader, signedAt date: Date) -> JSONObject {
        var payload = JSONObject()
        payload["originalTransactionId"] = .string(ids.transaction(it.original))
        payload["autoRenewProductId"] = .string(products[it.renewsAs].id)
        payload["productId"] = .string(products[it.product].id)
        payload["autoRenewStatus"] = .integer((it.autoRenews ? AutoRenewStatus.on : .off).rawValue)
        switch it.state {
        case .active, .revoked: break
        case .gracePeriod, .billingRetry:
            payload["expirationIntent"] = .integer(ExpirationIntent.billingError.rawValue)
            payload["isInBillingRetryPeriod"] = .boolean(true)
            payload["gracePeriodExpiresDate"] = it.gracePeriodEnd.map(JSONValue.instant)
        case .expired(let intent):
            payload["expirationIntent"] = .integer(intent.rawValue)
            payload["isInBillingRetryPeriod"] = .boolean(false)
        }
        payload["priceIncreaseStatus"] = (it.priceIncrease?.status.rawValue).map(JSONValue.integer)
        write(it.nextOffer, to: &payload)
        if it.autoRenews {
            payload["renewalPrice"] = .integer(it.renewalPrice)
            payload["currency"] = .string(accounts[it.account].storefront.currency)
        }
        payload["signedDate"] = .instant(date)
        payload["environment"] = .string(environment.rawValue)
        payload["recentSubscriptionStartDate"] = .instant(it.streakBegan)
        payload["renewalDate"] = transactions[it.current].expiresDate.map(JSONValue.instant)
        if !it.isRunning, it.sharedFrom == nil {
            let offers = products[it.product].offers.filter { $0.type == .winBack }.compactMap(\.id)
            if !offers.isEmpty { payload["eligibleWinBackOfferIds"] = .array(offers.map(JSONValue.string)) }
        }
        payload["appAccountToken"] =
            (transactions[it.current].appAccountToken?.uuidString.lowercased()).map(JSONValue.string)
        payload["appTransactionId"] = acquisition(of: it.account, app: it.app).map { .string(id(of: $0)) }
        bind(&payload, "renewal \(it.index)", for: reader, at: date)
        return payload
    }

    func summary(_ it: ExtensionSummary, app: Int) -> JSONObject {
        var summary = appMembers(app)
        summary["productId"] = .string(products[it.product].id)
        summary["requestIdentifier"] = .string(it.requestIdentifier)
        if !it.storefronts.isEmpty {
            summary["storefrontCountryCodes"] = .array(it.storefronts.map(JSONValue.string))
        }
        summary["succeededCount"] = .integer(Int64(it.succeeded))
        summary["failedCount"] = .integer(Int64(it.failed))
        return summary
    }

    /// How a notification names its app. A test notification of the sandbox leaves out the app's ID.
    func appMembers(_ app: Int, isTest: Bool = false) -> JSONObject {
        var members = JSONObject()
        if environment.isProduction || !isTest { members["appAppleId"] = .integer(apps[app].appAppleID) }
        members["bundleId"] = .string(apps[app].bundleID)
        members["environment"] = .string(environment.rawValue)
        return members
    }

    /// CFBundleVersion of the app that made the purchase.
    func bundleVersion(of transaction: AppStoreTransaction) -> String? {
        acquisition(of: transaction.account, app: transaction.app)?.installedRelease.build
    }

    /// Apple's number for a release.
    func externalIdentifier(of release: AppStoreRelease, app: Int) -> Int {
        861_000_000 + (apps[app].releases.firstIndex(of: release) ?? 0) + app * 10_000
    }

    private func write(_ offer: SubscriptionOffer?, to payload: inout JSONObject) {
        guard let offer else { return }
        payload["offerType"] = .integer(offer.type.rawValue)
        payload["offerIdentifier"] = offer.id.map(JSONValue.string)
        payload["offerDiscountType"] = .string(offer.discount.rawValue)
        payload["offerPeriod"] = .string(offer.period.iso8601)
    }

    /// Adds the nonce, and its hash with the device ID, which only that device can check.
    private func bind(_ payload: inout JSONObject, _ label: String, for reader: AppStoreSigner.Reader, at date: Date) {
        guard case .device(let device) = reader else { return }
        let nonce = ids.uuid("nonce \(label) \(Int64(date.timeIntervalSince1970 * 1000))")
        let hash = DeviceVerification.hash(nonce: nonce, deviceVerificationID: device)
        payload["deviceVerification"] = .string(String(decoding: Base64.standard.encode(hash), as: UTF8.self))
        payload["deviceVerificationNonce"] = .string(nonce.uuidString.lowercased())
    }
}
