package import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
package import TenureMint

/// Signs artifacts as the App Store would, with the keys of a test authority (keys and certificates in place of
/// Apple's). The signing date is the current time of the local App Store (`AppStoreState.now`). Notifications have the
/// date of their event instead.
package struct AppStoreSigner: Sendable {
    let authority: TestAuthority

    package init(authority: TestAuthority) { self.authority = authority }

    /// The recipient of an artifact. An artifact for a device contains a hash of the device's ID, so that another
    /// device can reject it.
    package enum Recipient: Sendable, Hashable {
        case device(UUID)
        case server
    }

    package func appTransaction(
        _ acquisition: AppStoreAcquisition, in state: AppStoreState, for recipient: Recipient
    ) throws -> String {
        try sign(state.appTransaction(acquisition, for: recipient), in: state)
    }

    /// - Parameter date: the signing date. Nil for the current time of `state`.
    func transaction(
        _ transaction: AppStoreTransaction, in state: AppStoreState, for recipient: Recipient = .server,
        at date: Date? = nil
    ) throws -> String {
        try sign(state.payload(of: transaction, for: recipient, signedAt: date ?? state.now), in: state)
    }

    /// - Parameter date: the signing date. Nil for the current time of `state`.
    func renewalInfo(
        _ subscription: Subscription, in state: AppStoreState, for recipient: Recipient = .server, at date: Date? = nil
    ) throws -> String {
        try sign(state.renewalInfo(of: subscription, for: recipient, signedAt: date ?? state.now), in: state)
    }

    /// Returns the `signedPayload` of a notification. In every delivery attempt, the transaction and renewal info are
    /// as they were at the time of the event. Only the app transaction has the current state.
    package func notification(_ notification: AppStoreNotification, in state: AppStoreState) throws -> String {
        var payload = JSONObject()
        payload.add([
            "notificationType": .string(notification.type.rawValue),
            "subtype": (notification.subtype?.rawValue).map(JSONValue.string),
            "notificationUUID": .string(notification.uuid.uuidString.lowercased()),
        ])
        switch notification.subject {
        case .extensionSummary(let summary): payload["summary"] = .object(state.summary(summary, app: notification.app))
        case .acquisition(let index):
            var data = state.appMembers(notification.app)
            data["signedAppTransactionInfo"] = .string(
                try appTransaction(state.acquisitions[index], in: state, for: .server))
            payload["appData"] = .object(data)
        case .nothing: payload["data"] = .object(state.appMembers(notification.app, isTest: true))
        case .transaction(let transaction, let subscription, let reason):
            var data = state.appMembers(notification.app)
            // CFBundleVersion of the app on the customer's devices.
            let installed = state.acquisition(of: transaction.account, app: transaction.app)?.installedRelease
            data["bundleVersion"] = (installed?.build).map(JSONValue.string)
            data["signedTransactionInfo"] = .string(
                try self.transaction(transaction, in: state, at: notification.signingDate))
            if let subscription {
                let info = try renewalInfo(subscription, in: state, at: notification.signingDate)
                data.add(["signedRenewalInfo": .string(info), "status": .integer(subscription.status.rawValue)])
            }
            data["consumptionRequestReason"] = (reason?.rawValue).map(JSONValue.string)
            payload["data"] = .object(data)
        }
        payload.add(["version": .string("2.0"), "signedDate": .instant(notification.signingDate)])
        return try sign(payload, in: state)
    }

    /// Returns the payload as a JWS.
    private func sign(_ payload: JSONObject, in state: AppStoreState) throws -> String {
        let minter = JWSMinter(
            authority: authority, app: MintedApp(environment: state.environment), signedAt: state.now)
        return String(decoding: try minter.mint(payload: payload), as: UTF8.self)
    }

    /// Receipts signed before this day, 2013-06-20, have no `original_application_version`.
    private static let firstDayWithVersions = Date(timeIntervalSince1970: 1_371_686_400)
    /// Receipts signed before this day, 2025-01-24, have SHA-1 signatures, and all other receipts SHA-256.
    private static let firstDayWithSHA256 = Date(timeIntervalSince1970: 1_737_676_800)

    /// Returns the app receipt on a device of the account, signed at the local App Store's time, in DER. It lists the
    /// account's own purchases, but consumables only until they are finished.
    func receipt(of acquisition: AppStoreAcquisition, in state: AppStoreState, device: UUID) throws -> [UInt8] {
        let app = state.apps[acquisition.app]
        let minter = ReceiptMinter(
            authority: authority,
            app: MintedApp(
                bundleID: app.bundleID, appAppleID: app.appAppleID, environment: state.environment,
                deviceVerificationID: device),
            signedAt: state.now)
        let (platform, installed) = (acquisition.installedPlatform, acquisition.installedRelease)
        var draft = minter.defaultReceipt
        draft[.appVersion] = .text(installed.reportedVersion(on: platform))
        draft[.platformCode] = .number(platform == .macOS ? 2 : 3)
        if platform == .macOS { draft[.unknown20] = nil }
        if state.environment.isProduction {
            draft[.downloadID] = .number(UInt64(clamping: state.ids.download(acquisition.index)))
            draft[.versionExternalIdentifier] = .number(
                UInt64(clamping: state.externalIdentifier(of: installed, app: acquisition.app)))
            draft[.originalPurchaseDate] = .date(acquisition.date)
            draft[.originalAppVersion] = .text(acquisition.release.reportedVersion(on: acquisition.platform))
            draft[.preorderDate] = acquisition.preorderDate.map(ReceiptDraft.Value.date)
        }
        if acquisition.way == .volumePurchase {
            let type: ReceiptType = state.environment.isProduction ? .productionVPP : .productionVPPSandbox
            draft[.receiptType] = .text(type.rawValue)
            draft[.expirationDate] = acquisition.licenseEnds.map(ReceiptDraft.Value.date)
        }
        if state.now < Self.firstDayWithVersions { draft[.originalAppVersion] = nil }
        draft.purchases = state.accounts[acquisition.account].transactions.map { state.transactions[$0] }
            .filter { $0.app == acquisition.app && !$0.isFamilyShared }
            .filter { !$0.isFinished || state.products[$0.product].type != .consumable }
            .map { state.receiptDraft(of: $0) }
        let style = ReceiptStyle(digest: state.now < Self.firstDayWithSHA256 ? .sha1 : .sha256)
        return try minter.mint(draft, style: style)
    }
}

extension AppStoreState {
    /// Returns the fields of a purchase in the receipt.
    fileprivate func receiptDraft(of transaction: AppStoreTransaction) -> ReceiptDraft {
        let product = products[transaction.product]
        var draft = ReceiptDraft()
        let lineItem = product.type == .autoRenewable ? UInt64(ids.webOrderLineItem(transaction.index)) ?? 0 : 0
        draft.add([
            .quantity: .number(UInt64(clamping: transaction.quantity)), .productID: .text(product.id),
            .transactionID: .text(id(of: transaction)), .purchaseDate: .date(transaction.purchaseDate),
            .originalTransactionID: .text(ids.transaction(transaction.originalTransaction)),
            .originalTransactionPurchaseDate: .date(transaction.originalPurchaseDate),
            .productType: .number(product.type.receiptNumber),
            .expiresDate: transaction.expiresDate.map(ReceiptDraft.Value.date) ?? .text(""),
            .webOrderLineItemID: .number(lineItem),
            .cancellationDate: (transaction.revocation?.date).map(ReceiptDraft.Value.date) ?? .text(""),
            .isTrialPeriod: .flag(transaction.offer?.discount == .freeTrial),
        ])
        if product.type == .autoRenewable {
            draft[.isInIntroOfferPeriod] = .flag(
                transaction.offer?.type == .introductory && transaction.offer?.discount != .freeTrial)
        }
        if transaction.offer?.type == .promotional {
            draft[.promotionalOfferID] = (transaction.offer?.id).map(ReceiptDraft.Value.text)
        }
        return draft
    }

    // MARK: Payloads, with Apple's field names in Apple's order

    // Fields that don't apply are left out.

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

    /// The number by which production artifacts identify a release (`versionExternalIdentifier`).
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

extension ProductType {
    /// The number for the type in a receipt's purchases.
    fileprivate var receiptNumber: UInt64 {
        switch self {
        case .nonConsumable: 0
        case .consumable: 1
        case .nonRenewing: 2
        case .autoRenewable: 3
        }
    }
}
