package import Foundation
package import TenureCore
import TenureJSON

/// One purchase, with Apple's field names. A date is nil if it doesn't apply to the purchase.
package struct PurchaseResponse: Sendable, Hashable, Decodable {
    /// The ID of the transaction, unique in the environment. A restored purchase can have a new ID.
    package let transactionID: String
    /// The ID of the first transaction of the purchase. All periods of a subscription have the same original ID.
    package let originalTransactionID: String
    /// The product ID in App Store Connect.
    package let productID: String
    /// Apple's name of the product's type, such as `Non-Consumable`; nil if an old receipt doesn't contain it.
    package let type: String?
    /// The date at which the product was bought or renewed.
    package let purchaseDate: Date?
    /// The end of a subscription's period; nil for other products.
    package let expiresDate: Date?
    /// The date at which Apple refunded the purchase, or at which Family Sharing of the purchase ended.
    package let revocationDate: Date?
    /// The end of the grace period of a subscription that couldn't be charged; nil if there is no grace period.
    package let gracePeriodExpiresDate: Date?
    /// Whether a higher plan replaced the subscription during this period.
    package let isUpgraded: Bool
    /// Whether a family member bought the product.
    package let isFamilyShared: Bool
    /// Whether Apple still tries to charge for an expired subscription.
    package let isInBillingRetryPeriod: Bool

    enum CodingKeys: String, CodingKey {
        case transactionID, originalTransactionID, productID, type, purchaseDate, expiresDate, revocationDate
        case gracePeriodExpiresDate, isUpgraded, isFamilyShared, isInBillingRetryPeriod
    }

    /// Reads a purchase. A missing flag is false.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        transactionID = try fields.decode(String.self, forKey: .transactionID)
        originalTransactionID = try fields.decode(String.self, forKey: .originalTransactionID)
        productID = try fields.decode(String.self, forKey: .productID)
        type = try fields.decodeIfPresent(String.self, forKey: .type)
        purchaseDate = try fields.instantIfPresent(.purchaseDate)
        expiresDate = try fields.instantIfPresent(.expiresDate)
        revocationDate = try fields.instantIfPresent(.revocationDate)
        gracePeriodExpiresDate = try fields.instantIfPresent(.gracePeriodExpiresDate)
        isUpgraded = try fields.decodeIfPresent(Bool.self, forKey: .isUpgraded) ?? false
        isFamilyShared = try fields.decodeIfPresent(Bool.self, forKey: .isFamilyShared) ?? false
        isInBillingRetryPeriod = try fields.decodeIfPresent(Bool.self, forKey: .isInBillingRetryPeriod) ?? false
    }
}

extension JSONWriter {
    /// Writes a purchase. Fields that don't apply are left out, as in Apple's payloads.
    package mutating func value(_ purchase: Purchase) {
        typealias Key = PurchaseResponse.CodingKeys
        beginObject()
        field(Key.transactionID, purchase.transactionID)
        field(Key.originalTransactionID, purchase.originalTransactionID)
        field(Key.productID, purchase.productID)
        field(Key.type, ifPresent: purchase.type?.wireName)
        if let date = purchase.purchaseDate { field(Key.purchaseDate, date) }
        if let date = purchase.expiresDate { field(Key.expiresDate, date) }
        if let date = purchase.revocationDate { field(Key.revocationDate, date) }
        if let date = purchase.gracePeriodExpiresDate { field(Key.gracePeriodExpiresDate, date) }
        if purchase.isUpgraded { field(Key.isUpgraded, true) }
        if purchase.isFamilyShared { field(Key.isFamilyShared, true) }
        if purchase.isInBillingRetryPeriod { field(Key.isInBillingRetryPeriod, true) }
        endObject()
    }
}

extension Purchase.ProductType {
    /// The product's type as Apple's signed transactions write it in `type`.
    fileprivate var wireName: String {
        switch self {
        case .nonConsumable: "Non-Consumable"
        case .consumable: "Consumable"
        case .nonRenewing: "Non-Renewing Subscription"
        case .autoRenewable: "Auto-Renewable Subscription"
        case .unknown(let name): name
        }
    }
}
