public import Foundation
public import TenureCore
public import TenureJSON

/// The contents of one in-app transaction, signed by the App Store. Fields that don't apply are absent.
public struct TransactionPayload: Sendable, Hashable, AppStorePayload {
    /// The ID of the subscription's first transaction. For a one-time purchase, its transaction ID.
    public let originalTransactionID: String?
    /// The ID of this transaction, which is unique in its environment.
    public let transactionID: String?
    /// The ID of a period of a subscription; nil for other products.
    public let webOrderLineItemID: String?
    /// `CFBundleIdentifier` of the app.
    public let bundleID: String?
    /// The product ID in App Store Connect.
    public let productID: String?
    /// The ID of the subscription group, in which a customer has one subscription at a time. Nil for other products.
    public let subscriptionGroupIdentifier: String?
    /// When the product was bought. For a renewal, the start of its period, which may be after the signing date.
    public let purchaseDate: Date?
    /// When the account first bought the product. The date is the same after restores and renewals.
    public let originalPurchaseDate: Date?
    /// When the period of an auto-renewable subscription ends; nil for other products.
    public let expiresDate: Date?
    /// How many consumables were bought; otherwise 1.
    public let quantity: Int64?
    /// The product type in App Store Connect.
    public let type: Open<ProductType>?
    /// The UUID that the app passed to the purchase.
    public let appAccountToken: String?
    /// Whether the customer or a family member bought the product.
    public let inAppOwnershipType: Open<OwnershipType>?
    /// When the App Store signed the payload.
    public let signedDate: Date?
    /// When the purchase was refunded, or when the family no longer shared the purchase; nil otherwise.
    public let revocationDate: Date?
    /// Why Apple refunded the purchase: a problem with the app, or another reason.
    public let revocationReason: Open<RevocationReason>?
    /// How the purchase was revoked: a full refund, a partial refund, or the end of Family Sharing.
    public let revocationType: Open<RevocationType>?
    /// The refunded part in thousandths of a percent: 50000 is 50%.
    public let revocationPercentage: Int64?
    /// Whether the subscription was replaced by an upgrade. If so, this transaction grants nothing anymore.
    public let isUpgraded: Bool?
    /// The kind of offer that applied: introductory, promotional, offer code or win-back.
    public let offerType: Open<OfferType>?
    /// The ID of the promotional or win-back offer, or the name of the offer code.
    public let offerIdentifier: String?
    /// How the customer pays for the offer, such as a free trial.
    public let offerDiscountType: Open<OfferDiscountType>?
    /// The length of the offer, as an ISO 8601 duration such as `P1M`.
    public let offerPeriod: String?
    /// The environment of the App Store that signed the payload.
    public let environment: Open<AppStoreEnvironment>?
    /// The country of the storefront, as an ISO 3166-1 alpha-3 code.
    public let storefront: String?
    /// Apple's number of the storefront.
    public let storefrontID: String?
    /// Whether the customer made the purchase, or the subscription renewed.
    public let transactionReason: Open<TransactionReason>?
    /// The currency of `price`, as an ISO 4217 code.
    public let currency: String?
    /// The price after an offer, in thousandths of `currency`.
    public let price: Int64?
    /// Apple's ID of the customer's acquisition of the app: one for each Apple Account and app.
    public let appTransactionID: String?
    /// The billing plan of this period: monthly or up front.
    public let billingPlanType: Open<BillingPlanType>?
    /// The commitment of a subscription that is paid in installments.
    public let commitmentInfo: CommitmentInfo?
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

    static var kind: JWSKind { .transaction }

    /// Every field that Apple documents for this payload, for code that shows or creates payloads.
    public static let fields = FieldReader.fields(of: Self.init(reading:))

    init(reading read: FieldReader) throws(Rejection) {
        originalTransactionID = try read(identifier: "originalTransactionId")
        transactionID = try read(identifier: "transactionId")
        webOrderLineItemID = try read(identifier: "webOrderLineItemId")
        bundleID = try read("bundleId")
        productID = try read(identifier: "productId")
        subscriptionGroupIdentifier = try read(identifier: "subscriptionGroupIdentifier")
        purchaseDate = try read("purchaseDate")
        originalPurchaseDate = try read("originalPurchaseDate")
        expiresDate = try read("expiresDate")
        quantity = try read("quantity")
        type = try read("type")
        appAccountToken = try read(identifier: "appAccountToken")
        inAppOwnershipType = try read("inAppOwnershipType")
        signedDate = try read("signedDate")
        revocationDate = try read("revocationDate")
        revocationReason = try read("revocationReason")
        revocationType = try read("revocationType")
        revocationPercentage = try read("revocationPercentage")
        isUpgraded = try read("isUpgraded")
        offerType = try read("offerType")
        offerIdentifier = try read("offerIdentifier")
        offerDiscountType = try read("offerDiscountType")
        offerPeriod = try read("offerPeriod")
        environment = try read("environment")
        storefront = try read("storefront")
        storefrontID = try read(identifier: "storefrontId")
        transactionReason = try read("transactionReason")
        currency = try read("currency")
        price = try read("price")
        appTransactionID = try read(identifier: "appTransactionId")
        billingPlanType = try read("billingPlanType")
        commitmentInfo = try read(object: "commitmentInfo")
        advancedCommerceInfo = try read(object: "advancedCommerceInfo")
        deviceVerification = try read("deviceVerification")
        deviceVerificationNonce = try read("deviceVerificationNonce")
        tape = read.tape
    }

    var environmentName: String? { environment?.rawValue }

    /// Returns the binding to a device; nil if the App Store signed the transaction for a server. Throws `malformed` if
    /// only one of its two fields is present, or a field is invalid.
    public func deviceBinding() throws(Rejection) -> DeviceVerification? {
        try DeviceVerification(hash: deviceVerification, nonce: deviceVerificationNonce)
    }
}

/// The commitment of a subscription that is billed monthly for a longer time.
public struct CommitmentInfo: Sendable, Hashable, FieldObject {
    /// The number of this installment, from 1.
    public let billingPeriodNumber: Int64?
    /// The number of installments of the commitment.
    public let totalBillingPeriods: Int64?
    /// When the commitment ends.
    public let commitmentExpiresDate: Date?
    /// The price of the commitment, in thousandths of the currency's unit.
    public let commitmentPrice: Int64?

    init(reading read: FieldReader) throws(Rejection) {
        billingPeriodNumber = try read("billingPeriodNumber")
        totalBillingPeriods = try read("totalBillingPeriods")
        commitmentExpiresDate = try read("commitmentExpiresDate")
        commitmentPrice = try read("commitmentPrice")
    }
}
