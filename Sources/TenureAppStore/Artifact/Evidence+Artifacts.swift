import Foundation
public import TenureCore

extension Evidence {
    /// Creates one customer's evidence (what decisions know about the customer) from verified artifacts. Artifacts of
    /// other environments are left out.
    ///
    /// Throws `malformed` if a transaction has no transaction ID or product ID, or if renewal info has no original
    /// transaction ID.
    ///
    /// - Parameter purchasesAreComplete: whether `artifacts` has all purchases of the customer.
    public init(
        in environment: AppStoreEnvironment, from artifacts: [VerifiedArtifact], purchasesAreComplete: Bool
    ) throws(Rejection) {
        var proofs: [AppProof] = []
        var transactions: [Purchase] = []
        var renewals: [Renewal] = []
        for artifact in artifacts where artifact.environment == environment {
            switch artifact {
            case .appTransaction(let verified): proofs.append(verified.proof)
            case .transaction(let verified): transactions.append(try verified.purchase)
            case .renewalInfo(let verified): renewals.append(try verified.renewal)
            case .notification(let notification):
                if let verified = notification.appTransaction { proofs.append(verified.proof) }
                if let verified = notification.transaction { transactions.append(try verified.purchase) }
                if let verified = notification.renewalInfo { renewals.append(try verified.renewal) }
            case .receipt(let verified):
                proofs.append(verified.proof)
                transactions += verified.purchases
            }
        }
        self.init(
            environment: environment, app: proofs, transactions: transactions, renewals: renewals,
            purchasesAreComplete: purchasesAreComplete)
    }
}

extension Verified<AppTransactionPayload> {
    /// The facts about the acquisition of the app, as decisions use them.
    public var proof: AppProof {
        AppProof(
            kind: payload.isSignedForServer ? .serverAppTransaction : .appTransaction, signedDate: signedDate,
            id: payload.appTransactionID.map { .appTransaction($0) },
            originalPlatform: payload.originalPlatform.flatMap { Platform(appStoreName: $0.rawValue) },
            originalAppVersion: payload.originalApplicationVersion, originalPurchaseDate: payload.originalPurchaseDate,
            preorderDate: payload.preorderDate, revocationDate: payload.revocationDate)
    }
}

extension Verified<TransactionPayload> {
    /// The facts about the purchase, as decisions use them.
    ///
    /// Throws `malformed` if the transaction has no transaction ID or product ID.
    public var purchase: Purchase {
        get throws(Rejection) {
            guard let transactionID = payload.transactionID
            else { throw Rejection(.malformed, "the transaction has no `transactionId`") }
            guard let productID = payload.productID
            else { throw Rejection(.malformed, "the transaction has no `productId`") }
            return Purchase(
                transactionID: transactionID, originalTransactionID: payload.originalTransactionID,
                productID: productID, type: payload.type?.purchaseType, purchaseDate: payload.purchaseDate,
                expiresDate: payload.expiresDate, revocationDate: payload.revocationDate,
                isUpgraded: payload.isUpgraded ?? false,
                isFamilyShared: payload.inAppOwnershipType?.known == .familyShared, signedDate: signedDate)
        }
    }
}

extension Open<ProductType> {
    /// The type as decisions use it.
    fileprivate var purchaseType: Purchase.ProductType {
        switch self {
        case .known(.nonConsumable): .nonConsumable
        case .known(.consumable): .consumable
        case .known(.nonRenewing): .nonRenewing
        case .known(.autoRenewable): .autoRenewable
        case .unknown(let name): .unknown(name)
        }
    }
}

extension Verified<RenewalInfoPayload> {
    /// The facts about the subscription's next renewal. Decisions use them only together with a transaction of the
    /// subscription.
    ///
    /// Throws `malformed` if the renewal info has no `originalTransactionId`.
    public var renewal: Renewal {
        get throws(Rejection) {
            guard let originalTransactionID = payload.originalTransactionID
            else { throw Rejection(.malformed, "the renewal info has no `originalTransactionId`") }
            return Renewal(
                originalTransactionID: originalTransactionID, productID: payload.productID,
                gracePeriodExpiresDate: payload.gracePeriodExpiresDate,
                isInBillingRetryPeriod: payload.isInBillingRetryPeriod ?? false, signedDate: signedDate)
        }
    }
}

extension Verified<ReceiptPayload> {
    /// The facts about the acquisition of the app, as decisions use them.
    public var proof: AppProof {
        AppProof(
            kind: .receipt, signedDate: signedDate,
            // In Sandbox, the download ID is 0, which identifies no acquisition.
            id: payload.downloadID.flatMap { $0 == 0 ? nil : .download(String($0)) },
            // Don't use attribute 25 (`platformCode`): it's the platform of the device with the receipt, not of the
            // first acquisition.
            originalPlatform: nil, originalAppVersion: payload.originalAppVersion,
            originalPurchaseDate: payload.originalPurchaseDate, preorderDate: payload.preorderDate,
            expirationDate: payload.volumePurchaseExpiration)
    }

    /// The facts about the in-app purchases in the receipt, as decisions use them.
    public var purchases: [Purchase] {
        payload.inAppPurchases.map { purchase in
            Purchase(
                transactionID: purchase.transactionID, originalTransactionID: purchase.originalTransactionID,
                productID: purchase.productID, type: purchase.productType.map(Purchase.ProductType.init(receiptValue:)),
                purchaseDate: purchase.purchaseDate, expiresDate: purchase.expiresDate,
                revocationDate: purchase.cancellationDate, signedDate: signedDate)
        }
    }
}

extension ReceiptPayload {
    /// The end of a volume-purchase license; nil for other receipts, and for a date that means no end.
    fileprivate var volumePurchaseExpiration: Date? {
        guard type?.isVolumePurchase == true, let expirationDate, expirationDate < Self.never else { return nil }
        return expirationDate
    }

    /// 4000-01-01T00:00:00Z. Later dates mean no end: Xcode writes 4001-01-01 in the developer's time zone.
    private static let never = Date(timeIntervalSince1970: 64_060_588_800)
}

extension Purchase.ProductType {
    /// Creates the type from the number in a receipt (attribute 1707, `productType`).
    fileprivate init(receiptValue: UInt64) {
        switch receiptValue {
        case 0: self = .nonConsumable
        case 1: self = .consumable
        case 2: self = .nonRenewing
        case 3: self = .autoRenewable
        default: self = .unknown(String(receiptValue))
        }
    }
}
