public import Foundation
public import TenureCore
import TenureJSON

/// The App Store's information about the next renewal of a subscription. It names no app and no transaction.
public struct RenewalInfoPayload: Sendable, Hashable {
    /// The subscription's ID. Renewal info counts only through its verified transaction.
    public let originalTransactionID: String?
    /// The current product.
    public let productID: String?
    /// The product that will renew.
    public let autoRenewProductID: String?
    public let autoRenewStatus: Open<AutoRenewStatus>?
    /// Only once it expired.
    public let expirationIntent: Open<ExpirationIntent>?
    public let isInBillingRetryPeriod: Bool?
    /// The entitlement continues until then.
    public let gracePeriodExpiresDate: Date?
    public let priceIncreaseStatus: Open<PriceIncreaseStatus>?
    public let offerType: Open<OfferType>?
    public let offerIdentifier: String?
    public let offerDiscountType: Open<OfferDiscountType>?
    /// ISO 8601 duration, such as `P1M`.
    public let offerPeriod: String?
    public let recentSubscriptionStartDate: Date?
    public let renewalDate: Date?
    /// Thousandths of `currency`.
    public let renewalPrice: Int64?
    /// ISO 4217.
    public let currency: String?
    /// Best first.
    public let eligibleWinBackOfferIDs: [String]?
    public let environment: Open<AppStoreEnvironment>?
    public let signedDate: Date?
    public let appAccountToken: String?
    public let appTransactionID: String?
    public let renewalBillingPlanType: Open<BillingPlanType>?
    public let commitmentInfo: RenewalCommitmentInfo?
    public let advancedCommerceInfo: AdvancedCommerceInfo?
    /// Standard Base64 of 48 bytes; only in a device's artifacts.
    public let deviceVerification: String?
    public let deviceVerificationNonce: String?

    let tape: JSONTape

    enum Fields {
        static let originalTransactionID = Field<String>("originalTransactionId")
        static let productID = Field<String>("productId")
        static let autoRenewProductID = Field<String>("autoRenewProductId")
        static let autoRenewStatus = Field<Open<AutoRenewStatus>>("autoRenewStatus")
        static let expirationIntent = Field<Open<ExpirationIntent>>("expirationIntent")
        static let isInBillingRetryPeriod = Field<Bool>("isInBillingRetryPeriod")
        static let gracePeriodExpiresDate = Field<Date>("gracePeriodExpiresDate")
        static let priceIncreaseStatus = Field<Open<PriceIncreaseStatus>>("priceIncreaseStatus")
        static let offerType = Field<Open<OfferType>>("offerType")
        static let offerIdentifier = Field<String>("offerIdentifier")
        static let offerDiscountType = Field<Open<OfferDiscountType>>("offerDiscountType")
        static let offerPeriod = Field<String>("offerPeriod")
        static let recentSubscriptionStartDate = Field<Date>("recentSubscriptionStartDate")
        static let renewalDate = Field<Date>("renewalDate")
        static let renewalPrice = Field<Int64>("renewalPrice")
        static let currency = Field<String>("currency")
        static let eligibleWinBackOfferIDs = Field<[String]>("eligibleWinBackOfferIds")
        static let environment = Field<Open<AppStoreEnvironment>>("environment")
        static let signedDate = Field<Date>("signedDate")
        static let appAccountToken = Field<String>("appAccountToken")
        static let appTransactionID = Field<String>("appTransactionId")
        static let renewalBillingPlanType = Field<Open<BillingPlanType>>("renewalBillingPlanType")
        static let commitmentInfo = Field<RenewalCommitmentInfo>("commitmentInfo")
        static let advancedCommerceInfo = Field<AdvancedCommerceInfo>("advancedCommerceInfo")
        static let deviceVerification = Field<String>("deviceVerification")
        static let deviceVerificationNonce = Field<String>("deviceVerificationNonce")
    }
}

extension RenewalInfoPayload: StorePayload {
    static var kind: JWSKind { .renewalInfo }

    public static let fields: [FieldDescription] = [
        Fields.originalTransactionID.description, Fields.productID.description, Fields.autoRenewProductID.description,
        Fields.autoRenewStatus.description, Fields.expirationIntent.description,
        Fields.isInBillingRetryPeriod.description, Fields.gracePeriodExpiresDate.description,
        Fields.priceIncreaseStatus.description, Fields.offerType.description, Fields.offerIdentifier.description,
        Fields.offerDiscountType.description, Fields.offerPeriod.description,
        Fields.recentSubscriptionStartDate.description, Fields.renewalDate.description,
        Fields.renewalPrice.description, Fields.currency.description, Fields.eligibleWinBackOfferIDs.description,
        Fields.environment.description, Fields.signedDate.description, Fields.appAccountToken.description,
        Fields.appTransactionID.description, Fields.renewalBillingPlanType.description,
        Fields.commitmentInfo.description, Fields.advancedCommerceInfo.description,
        Fields.deviceVerification.description, Fields.deviceVerificationNonce.description,
    ]

    init(reading read: FieldReader) throws(Rejection) {
        originalTransactionID = try read(identifier: Fields.originalTransactionID)
        productID = try read(identifier: Fields.productID)
        autoRenewProductID = try read(identifier: Fields.autoRenewProductID)
        autoRenewStatus = try read(Fields.autoRenewStatus)
        expirationIntent = try read(Fields.expirationIntent)
        isInBillingRetryPeriod = try read(Fields.isInBillingRetryPeriod)
        gracePeriodExpiresDate = try read(Fields.gracePeriodExpiresDate)
        priceIncreaseStatus = try read(Fields.priceIncreaseStatus)
        offerType = try read(Fields.offerType)
        offerIdentifier = try read(Fields.offerIdentifier)
        offerDiscountType = try read(Fields.offerDiscountType)
        offerPeriod = try read(Fields.offerPeriod)
        recentSubscriptionStartDate = try read(Fields.recentSubscriptionStartDate)
        renewalDate = try read(Fields.renewalDate)
        renewalPrice = try read(Fields.renewalPrice)
        currency = try read(Fields.currency)
        eligibleWinBackOfferIDs = try read(Fields.eligibleWinBackOfferIDs)
        environment = try read(Fields.environment)
        signedDate = try read(Fields.signedDate)
        appAccountToken = try read(identifier: Fields.appAccountToken)
        appTransactionID = try read(identifier: Fields.appTransactionID)
        renewalBillingPlanType = try read(Fields.renewalBillingPlanType)
        commitmentInfo = try read(Fields.commitmentInfo)
        advancedCommerceInfo = try read(Fields.advancedCommerceInfo)
        deviceVerification = try read(Fields.deviceVerification)
        deviceVerificationNonce = try read(Fields.deviceVerificationNonce)
        tape = read.tape
    }
}

extension RenewalInfoPayload {
    var bundleID: String? { nil }
    var environmentName: String? { environment?.rawValue }
}
