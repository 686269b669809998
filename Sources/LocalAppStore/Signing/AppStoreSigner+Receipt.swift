import Foundation
import TenureAppStore
import TenureCore
import TenureMint

extension AppStoreSigner {
    /// Receipts signed before this day, 2013-06-20, have no `original_application_version`.
    private static let firstVersions = Date(timeIntervalSince1970: 1_371_686_400)
    /// Receipts signed before this day, 2025-01-24, have SHA-1 signatures, and all others SHA-256.
    private static let firstSHA256 = Date(timeIntervalSince1970: 1_737_676_800)

    /// The app receipt on a device of the account, signed now, in DER.
    /// It lists purchases, but consumables only until they are finished, and nothing that the family shares.
    func receipt(of it: AppStoreAcquisition, in state: AppStoreState, device: UUID) throws -> [UInt8] {
        let app = state.apps[it.app]
        let minter = ReceiptMinter(
            authority: authority,
            app: MintedApp(
                bundleID: app.bundleID, appAppleID: app.appAppleID, environment: state.environment,
                deviceVerificationID: device),
            signedAt: state.now)
        let (platform, installed) = (it.installedPlatform, it.installedRelease)
        var draft = minter.draft
        draft[.appVersion] = .text(installed.reportedVersion(on: platform))
        draft[.platformCode] = .number(platform == .macOS ? 2 : 3)
        if platform == .macOS { draft[.unknown20] = nil }
        if state.environment.isProduction {
            draft[.downloadID] = .number(UInt64(clamping: state.ids.download(it.index)))
            draft[.versionExternalIdentifier] = .number(
                UInt64(clamping: state.externalIdentifier(of: installed, app: it.app)))
            draft[.originalPurchaseDate] = .date(it.date)
            draft[.originalAppVersion] = .text(it.release.reportedVersion(on: it.platform))
            draft[.preorderDate] = it.preorderDate.map(ReceiptDraft.Value.date)
        }
        if it.way == .volumePurchase {
            let type: ReceiptType = state.environment.isProduction ? .productionVPP : .productionVPPSandbox
            draft[.receiptType] = .text(type.rawValue)
            draft[.expirationDate] = it.licenseEnds.map(ReceiptDraft.Value.date)
        }
        if state.now < Self.firstVersions { draft[.originalAppVersion] = nil }
        draft.purchases = state.accounts[it.account].transactions.map { state.transactions[$0] }
            .filter { $0.app == it.app && !$0.isFamilyShared && !($0.isFinished && state.isConsumable($0)) }
            .map { state.receiptDraft(of: $0) }
        let style = ReceiptStyle(digest: state.now < Self.firstSHA256 ? .sha1 : .sha256)
        return try minter.mint(draft, style: style)
    }
}

extension AppStoreState {
    fileprivate func isConsumable(_ transaction: AppStoreTransaction) -> Bool {
        products[transaction.product].type == .consumable
    }

    fileprivate func receiptDraft(of it: AppStoreTransaction) -> ReceiptDraft {
        let product = products[it.product]
        var draft = ReceiptDraft()
        draft[.quantity] = .number(UInt64(clamping: it.quantity))
        draft[.productID] = .text(product.id)
        draft[.transactionID] = .text(id(of: it))
        draft[.purchaseDate] = .date(it.purchaseDate)
        draft[.originalTransactionID] = .text(ids.transaction(it.original))
        draft[.originalTransactionPurchaseDate] = .date(it.originalPurchaseDate)
        draft[.productType] = .number(product.type.receiptNumber)
        draft[.expiresDate] = it.expiresDate.map(ReceiptDraft.Value.date) ?? .text("")
        draft[.webOrderLineItemID] = .number(
            product.type == .autoRenewable ? UInt64(ids.webOrderLineItem(it.index)) ?? 0 : 0)
        draft[.cancellationDate] = (it.revocation?.date).map(ReceiptDraft.Value.date) ?? .text("")
        draft[.isTrialPeriod] = .flag(it.offer?.discount == .freeTrial)
        if product.type == .autoRenewable {
            draft[.isInIntroOfferPeriod] = .flag(it.offer?.type == .introductory && it.offer?.discount != .freeTrial)
        }
        if it.offer?.type == .promotional {
            draft[.promotionalOfferID] = (it.offer?.id).map(ReceiptDraft.Value.text)
        }
        return draft
    }
}

extension ProductType {
    fileprivate var receiptNumber: UInt64 {
        switch self {
        case .nonConsumable: 0
        case .consumable: 1
        case .nonRenewing: 2
        case .autoRenewable: 3
        }
    }
}
