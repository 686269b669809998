public import TenureCore

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
                isFamilyShared: payload.inAppOwnershipType.map { $0 == .familyShared } ?? false, signedDate: signedDate)
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
