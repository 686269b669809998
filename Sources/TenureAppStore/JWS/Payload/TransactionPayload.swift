public import Foundation
public import TenureCore
import TenureJSON

/// The contents of one in-app transaction, signed by the App Store. Fields that don't apply are absent.
public struct TransactionPayload: Sendable, Hashable {
    /// The ID of the subscription's first transaction; for a one-time purchase, its own.
    public let originalTransactionID: String?
    public let transactionID: String?
    /// Subscriptions only.
    public let webOrderLineItemID: String?
    public let bundleID: String?
    public let productID: String?
    public let subscriptionGroupIdentifier: String?
    /// For a renewal, the start of its period, which may be after the signing.
    public let purchaseDate: Date?
    public let originalPurchaseDate: Date?
    /// Auto-renewable subscriptions only.
    public let expiresDate: Date?
    public let quantity: Int64?
    public let type: Open<ProductType>?
    /// A UUID that the app set.
    public let appAccountToken: String?
    public let inAppOwnershipType: Open<OwnershipType>?
    public let signedDate: Date?
    /// Present: refunded, or revoked from the family.
    public let revocationDate: Date?
    public let revocationReason: Open<RevocationReason>?
    public let revocationType: Open<RevocationType>?
    /// Thousandths of a percent: 50000 is 50 %.
    public let revocationPercentage: Int64?
    /// True: replaced by an upgrade, it no longer grants.
    public let isUpgraded: Bool?
    public let offerType: Open<OfferType>?
    public let offerIdentifier: String?
    public let offerDiscountType: Open<OfferDiscountType>?
    /// ISO 8601 duration, such as `P1M`.
    public let offerPeriod: String?
    public let environment: Open<AppStoreEnvironment>?
    /// ISO 3166-1 alpha-3.
    public let storefront: String?
    public let storefrontID: String?
    public let transactionReason: Open<TransactionReason>?
    /// ISO 4217.
    public let currency: String?
    /// Thousandths of `currency`, after an offer.
    public let price: Int64?
    public let appTransactionID: String?
    public let billingPlanType: Open<BillingPlanType>?
    public let commitmentInfo: CommitmentInfo?
    public let advancedCommerceInfo: AdvancedCommerceInfo?
    /// Standard Base64 of 48 bytes; only in a device's artifacts.
    public let deviceVerification: String?
    public let deviceVerificationNonce: String?

    let tape: JSONTape

    enum Fields {
        static let originalTransactionID = Field<String>("originalTransactionId")
        static let transactionID = Field<String>("transactionId")
        static let webOrderLineItemID = Field<String>("webOrderLineItemId")
        static let bundleID = Field<String>("bundleId")
        static let productID = Field<String>("productId")
        static let subscriptionGroupIdentifier = Field<String>("subscriptionGroupIdentifier")
        static let purchaseDate = Field<Date>("purchaseDate")
        static let originalPurchaseDate = Field<Date>("originalPurchaseDate")
        static let expiresDate = Field<Date>("expiresDate")
        static let quantity = Field<Int64>("quantity")
        static let type = Field<Open<ProductType>>("type")
        static let appAccountToken = Field<String>("appAccountToken")
        static let inAppOwnershipType = Field<Open<OwnershipType>>("inAppOwnershipType")
        static let signedDate = Field<Date>("signedDate")
        static let revocationDate = Field<Date>("revocationDate")
        static let revocationReason = Field<Open<RevocationReason>>("revocationReason")
        static let revocationType = Field<Open<RevocationType>>("revocationType")
        static let revocationPercentage = Field<Int64>("revocationPercentage")
        static let isUpgraded = Field<Bool>("isUpgraded")
        static let offerType = Field<Open<OfferType>>("offerType")
        static let offerIdentifier = Field<String>("offerIdentifier")
        static let offerDiscountType = Field<Open<OfferDiscountType>>("offerDiscountType")
        static let offerPeriod = Field<String>("offerPeriod")
        static let environment = Field<Open<AppStoreEnvironment>>("environment")
        static let storefront = Field<String>("storefront")
        static let storefrontID = Field<String>("storefrontId")
        static let transactionReason = Field<Open<TransactionReason>>("transactionReason")
        static let currency = Field<String>("currency")
        static let price = Field<Int64>("price")
        static let appTransactionID = Field<String>("appTransactionId")
        static let billingPlanType = Field<Open<BillingPlanType>>("billingPlanType")
        static let commitmentInfo = Field<CommitmentInfo>("commitmentInfo")
        static let advancedCommerceInfo = Field<AdvancedCommerceInfo>("advancedCommerceInfo")
        static let deviceVerification = Field<String>("deviceVerification")
        static let deviceVerificationNonce = Field<String>("deviceVerificationNonce")
    }
}

extension TransactionPayload: StorePayload {
    static var kind: JWSKind { .transaction }

    public static let fields: [FieldDescription] = [
        Fields.originalTransactionID.description, Fields.transactionID.description,
        Fields.webOrderLineItemID.description, Fields.bundleID.description, Fields.productID.description,
        Fields.subscriptionGroupIdentifier.description, Fields.purchaseDate.description,
        Fields.originalPurchaseDate.description, Fields.expiresDate.description, Fields.quantity.description,
        Fields.type.description, Fields.appAccountToken.description, Fields.inAppOwnershipType.description,
        Fields.signedDate.description, Fields.revocationDate.description, Fields.revocationReason.description,
        Fields.revocationType.description, Fields.revocationPercentage.description, Fields.isUpgraded.description,
        Fields.offerType.description, Fields.offerIdentifier.description, Fields.offerDiscountType.description,
        Fields.offerPeriod.description, Fields.environment.description, Fields.storefront.description,
        Fields.storefrontID.description, Fields.transactionReason.description, Fields.currency.description,
        Fields.price.description, Fields.appTransactionID.description, Fields.billingPlanType.description,
        Fields.commitmentInfo.description, Fields.advancedCommerceInfo.description,
        Fields.deviceVerification.description, Fields.deviceVerificationNonce.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        originalTransactionID = try read(identifier: Fields.originalTransactionID)
        transactionID = try read(identifier: Fields.transactionID)
        webOrderLineItemID = try read(identifier: Fields.webOrderLineItemID)
        bundleID = try read(Fields.bundleID)
        productID = try read(identifier: Fields.productID)
        subscriptionGroupIdentifier = try read(identifier: Fields.subscriptionGroupIdentifier)
        purchaseDate = try read(Fields.purchaseDate)
        originalPurchaseDate = try read(Fields.originalPurchaseDate)
        expiresDate = try read(Fields.expiresDate)
        quantity = try read(Fields.quantity)
        type = try read(Fields.type)
        appAccountToken = try read(identifier: Fields.appAccountToken)
        inAppOwnershipType = try read(Fields.inAppOwnershipType)
        signedDate = try read(Fields.signedDate)
        revocationDate = try read(Fields.revocationDate)
        revocationReason = try read(Fields.revocationReason)
        revocationType = try read(Fields.revocationType)
        revocationPercentage = try read(Fields.revocationPercentage)
        isUpgraded = try read(Fields.isUpgraded)
        offerType = try read(Fields.offerType)
        offerIdentifier = try read(Fields.offerIdentifier)
        offerDiscountType = try read(Fields.offerDiscountType)
        offerPeriod = try read(Fields.offerPeriod)
        environment = try read(Fields.environment)
        storefront = try read(Fields.storefront)
        storefrontID = try read(identifier: Fields.storefrontID)
        transactionReason = try read(Fields.transactionReason)
        currency = try read(Fields.currency)
        price = try read(Fields.price)
        appTransactionID = try read(identifier: Fields.appTransactionID)
        billingPlanType = try read(Fields.billingPlanType)
        commitmentInfo = try read(Fields.commitmentInfo)
        advancedCommerceInfo = try read(Fields.advancedCommerceInfo)
        deviceVerification = try read(Fields.deviceVerification)
        deviceVerificationNonce = try read(Fields.deviceVerificationNonce)
        tape = read.tape
    }
}

extension TransactionPayload {
    var environmentName: String? { environment?.rawValue }
}
