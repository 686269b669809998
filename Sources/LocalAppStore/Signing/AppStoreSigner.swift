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

    /// Returns an app transaction as a JWS.
    package func appTransaction(
        _ acquisition: AppStoreAcquisition, in state: AppStoreState, for recipient: Recipient
    ) throws -> String {
        try sign(state.appTransaction(acquisition, for: recipient), in: state)
    }

    /// Returns a transaction as a JWS.
    ///
    /// - Parameter date: the signing date. Nil for the current time of `state`.
    func transaction(
        _ transaction: AppStoreTransaction, in state: AppStoreState, for recipient: Recipient = .server,
        at date: Date? = nil
    ) throws -> String {
        try sign(state.payload(of: transaction, for: recipient, signedAt: date ?? state.now), in: state)
    }

    /// Returns the renewal info of a subscription as a JWS.
    ///
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
        // The code 2 means macOS, and 3 any other platform. Receipts of macOS have no attribute 20.
        draft[.platformCode] = .number(platform == .macOS ? 2 : 3)
        if platform == .macOS { draft[.unknown20] = nil }
        // In the sandbox, these attributes keep the fixed values of the default receipt.
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
        let lineItem = product.type == .autoRenewable ? (UInt64(ids.webOrderLineItem(transaction.index)) ?? 0) : 0
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
