import Foundation
public import TenureCore

extension Verified<ReceiptPayload> {
    /// The facts about the acquisition of the app, as decisions use them.
    public var proof: AppProof {
        AppProof(
            kind: .receipt, signedDate: signedDate,
            id: payload.downloadID.flatMap { $0 == 0 ? nil : .download(String($0)) },
            // Don't use attribute 25: it's the platform of the device with the receipt, not of the first acquisition.
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
    /// Creates the type from the number in attribute 1707.
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
