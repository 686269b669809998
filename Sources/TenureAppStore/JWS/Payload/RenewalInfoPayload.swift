public import Foundation
public import TenureCore
public import TenureJSON

/// The App Store's information about the next renewal of a subscription. Renewal info doesn't contain the app's bundle
/// ID.
public struct RenewalInfoPayload: Sendable, Hashable, AppStorePayload {
    /// The subscription's ID. Use renewal info only together with a verified transaction with the same ID.
    public let originalTransactionID: String?
    /// The product ID of the current period, or of the last period.
    public let productID: String?
    /// The product ID of the next period. After a downgrade it differs from `productID`.
    public let autoRenewProductID: String?
    /// Whether the subscription will renew.
    public let autoRenewStatus: Open<AutoRenewStatus>?
    /// Why the subscription expired; nil while it is active.
    public let expirationIntent: Open<ExpirationIntent>?
    /// Whether Apple still tries to charge for an expired subscription.
    public let isInBillingRetryPeriod: Bool?
    /// When the billing grace period ends. The subscription is valid until then. Nil if there is no grace period.
    public let gracePeriodExpiresDate: Date?
    /// Whether the customer accepted a price increase.
    public let priceIncreaseStatus: Open<PriceIncreaseStatus>?
    /// The kind of offer of the next period: introductory, promotional, offer code or win-back.
    public let offerType: Open<OfferType>?
    /// The ID of the promotional or win-back offer, or the name of the offer code.
    public let offerIdentifier: String?
    /// How the offer is paid: free trial, pay as you go or pay up front.
    public let offerDiscountType: Open<OfferDiscountType>?
    /// The length of the offer, as an ISO 8601 duration such as `P1M`.
    public let offerPeriod: String?
    /// When the current series of periods began. A gap of at most 60 days doesn't end a series.
    public let recentSubscriptionStartDate: Date?
    /// When the subscription renews next.
    public let renewalDate: Date?
    /// The price of the next period, in thousandths of `currency`.
    public let renewalPrice: Int64?
    /// The currency of `renewalPrice`, as an ISO 4217 code.
    public let currency: String?
    /// The IDs of the win-back offers that the customer may use, the best first.
    public let eligibleWinBackOfferIDs: [String]?
    /// The environment of the App Store that signed the payload.
    public let environment: Open<AppStoreEnvironment>?
    /// When the App Store signed the payload.
    public let signedDate: Date?
    /// The UUID that the app passed to the purchase.
    public let appAccountToken: String?
    /// Apple's ID of the customer's acquisition of the app: one for each Apple Account and app.
    public let appTransactionID: String?
    /// The billing plan of the next period: monthly or up front.
    public let renewalBillingPlanType: Open<BillingPlanType>?
    /// The commitment of a subscription that is paid in installments.
    public let commitmentInfo: RenewalCommitmentInfo?
    /// Details of a product of the Advanced Commerce API; nil for other products.
    public let advancedCommerceInfo: AdvancedCommerceInfo?
    /// The hash that binds the artifact to a device: standard Base64 of 48 bytes. Only in a device's artifacts.
    public let deviceVerification: String?
    /// The UUID in the hash that binds the artifact to a device.
    public let deviceVerificationNonce: String?

    /// The parsed JSON of the payload, with all of its fields.
    let tape: JSONTape
    /// Every field as it was signed, including unknown fields.
    public var json: JSONObject { JSONObject(tape, at: tape.root) }

    static var kind: JWSKind { .renewalInfo }

    /// Every field that Apple documents for this payload, for code that shows or creates payloads.
    public static let fields = FieldReader.fields(of: Self.init(reading:))

    init(reading read: FieldReader) throws(Rejection) {
        originalTransactionID = try read(identifier: "originalTransactionId")
        productID = try read(identifier: "productId")
        autoRenewProductID = try read(identifier: "autoRenewProductId")
        autoRenewStatus = try read("autoRenewStatus")
        expirationIntent = try read("expirationIntent")
        isInBillingRetryPeriod = try read("isInBillingRetryPeriod")
        gracePeriodExpiresDate = try read("gracePeriodExpiresDate")
        priceIncreaseStatus = try read("priceIncreaseStatus")
        offerType = try read("offerType")
        offerIdentifier = try read("offerIdentifier")
        offerDiscountType = try read("offerDiscountType")
        offerPeriod = try read("offerPeriod")
        recentSubscriptionStartDate = try read("recentSubscriptionStartDate")
        renewalDate = try read("renewalDate")
        renewalPrice = try read("renewalPrice")
        currency = try read("currency")
        eligibleWinBackOfferIDs = try read("eligibleWinBackOfferIds")
        environment = try read("environment")
        signedDate = try read("signedDate")
        appAccountToken = try read(identifier: "appAccountToken")
        appTransactionID = try read(identifier: "appTransactionId")
        renewalBillingPlanType = try read("renewalBillingPlanType")
        commitmentInfo = try read(object: "commitmentInfo")
        advancedCommerceInfo = try read(object: "advancedCommerceInfo")
        deviceVerification = try read("deviceVerification")
        deviceVerificationNonce = try read("deviceVerificationNonce")
        tape = read.tape
    }

    /// Renewal info doesn't contain the app's bundle ID.
    var bundleID: String? { nil }
    var environmentName: String? { environment?.rawValue }

    /// Returns the binding to a device; nil if the App Store signed the renewal info for a server. Throws `malformed`
    /// if only one of its two fields is present, or a field is invalid.
    public func deviceBinding() throws(Rejection) -> DeviceVerification? {
        try DeviceVerification(hash: deviceVerification, nonce: deviceVerificationNonce)
    }
}

/// What happens to a commitment at its renewal.
public struct RenewalCommitmentInfo: Sendable, Hashable, FieldObject {
    /// The product ID with which the subscription continues after the commitment.
    public let commitmentAutoRenewProductID: String?
    /// Whether another commitment follows this commitment.
    public let commitmentAutoRenewStatus: Open<AutoRenewStatus>?
    /// Whether the next commitment is billed once or every month.
    public let commitmentRenewalBillingPlanType: Open<BillingPlanType>?
    /// When the commitment renews.
    public let commitmentRenewalDate: Date?
    /// The price of the next commitment, in thousandths of the currency's unit.
    public let commitmentRenewalPrice: Int64?

    init(reading read: FieldReader) throws(Rejection) {
        commitmentAutoRenewProductID = try read("commitmentAutoRenewProductId")
        commitmentAutoRenewStatus = try read("commitmentAutoRenewStatus")
        commitmentRenewalBillingPlanType = try read("commitmentRenewalBillingPlanType")
        commitmentRenewalDate = try read("commitmentRenewalDate")
        commitmentRenewalPrice = try read("commitmentRenewalPrice")
    }
}
