public import Foundation
public import TenureJSON

/// A response of Apple's `verifyReceipt`, read for display only.
/// It isn't signed, and anyone could have written it, so it can't become evidence.
public struct VerifyReceiptResponse: Sendable, Hashable {
    /// 0 for a valid receipt; otherwise `receipt` is usually absent.
    public let status: Int64
    /// `Production` or `Sandbox`.
    public let environment: String?
    /// The app's part; nil if the status is an error.
    public let receipt: Receipt?
    /// The latest transactions of auto-renewable subscriptions.
    public let latestReceiptInfo: [Transaction]
    /// One entry for each auto-renewable subscription.
    public let pendingRenewalInfo: [PendingRenewal]
    /// Base64 of the app receipt. Unlike the rest, it can be verified.
    public let latestReceipt: String?
    /// Whether Apple asks to send the request again.
    public let isRetryable: Bool?
    /// The whole response, with unknown members.
    public let json: JSONObject

    /// The app's part of the response.
    public struct Receipt: Sendable, Hashable {
        /// `Production`, `ProductionSandbox`, `ProductionVPP` and so on.
        public let receiptType: String?
        /// `CFBundleIdentifier` of the app.
        public let bundleID: String?
        /// The app's Apple ID (adam ID); absent in Sandbox.
        public let appAppleID: UInt64?
        /// The version of the app that sent the receipt.
        public let applicationVersion: String?
        /// The same in every receipt of one purchase of the app.
        public let downloadID: UInt64?
        /// Apple's number of the app version in App Store Connect; 0 in Sandbox.
        public let versionExternalIdentifier: UInt64?
        /// When the App Store signed the receipt.
        public let creationDate: Date?
        /// When Apple answered the request.
        public let requestDate: Date?
        /// When the account first got it; stable across restores and renewals.
        public let originalPurchaseDate: Date?
        /// The version that the account first got: on macOS a marketing version, elsewhere a build.
        public let originalApplicationVersion: String?
        /// When the app was preordered.
        public let preorderDate: Date?
        /// When a volume-purchase license ends.
        public let expirationDate: Date?
        /// The transactions in the receipt.
        public let inApp: [Transaction]
    }

    /// One transaction, in the field names of verifyReceipt.
    public struct Transaction: Sendable, Hashable {
        /// The product ID in App Store Connect.
        public let productID: String?
        /// Unique in the environment.
        public let transactionID: String?
        /// The ID of the first purchase; the same for all periods of a subscription.
        public let originalTransactionID: String?
        /// How many consumables were bought; otherwise 1.
        public let quantity: UInt64?
        /// When the product was bought, restored or renewed.
        public let purchaseDate: Date?
        /// When the account first got it; stable across restores and renewals.
        public let originalPurchaseDate: Date?
        /// When the period of a subscription ends; nil for other products.
        public let expiresDate: Date?
        /// When Apple refunded the purchase, or an upgrade replaced it.
        public let cancellationDate: Date?
        /// `1`: a problem with the app; `0`: another reason.
        public let cancellationReason: String?
        /// One per subscription period, across devices.
        public let webOrderLineItemID: String?
        /// Whether the period was a free trial.
        public let isTrialPeriod: Bool?
        /// Whether the period had an introductory price.
        public let isInIntroOfferPeriod: Bool?
        /// Whether an upgrade replaced the subscription.
        public let isUpgraded: Bool?
        /// `PURCHASED` or `FAMILY_SHARED`.
        public let ownershipType: String?
        /// The group in which a customer has one subscription at a time.
        public let subscriptionGroupIdentifier: String?
        /// The reference name of the offer code.
        public let offerCodeRefName: String?
        /// The ID of the promotional offer that applied.
        public let promotionalOfferID: String?
        /// The UUID that the app passed to the purchase.
        public let appAccountToken: String?
    }

    /// What happens to one subscription at the end of its period.
    public struct PendingRenewal: Sendable, Hashable {
        /// The ID of the first purchase; the same for all periods of a subscription.
        public let originalTransactionID: String?
        /// The product ID in App Store Connect.
        public let productID: String?
        /// The product of the next period.
        public let autoRenewProductID: String?
        /// `1` if the subscription will renew.
        public let autoRenewStatus: String?
        /// Apple's code for why the subscription expired, `1` to `5`.
        public let expirationIntent: String?
        /// When the billing grace period ends.
        public let gracePeriodExpiresDate: Date?
        /// Whether Apple still tries to charge for an expired subscription.
        public let isInBillingRetryPeriod: Bool?
        /// `1` if the customer accepted a price increase that needs consent.
        public let priceConsentStatus: String?
        /// `1` if the customer accepted the price increase.
        public let priceIncreaseStatus: String?
        /// The reference name of the offer code.
        public let offerCodeRefName: String?
        /// The ID of the promotional offer that applied.
        public let promotionalOfferID: String?
    }

    /// Responses grow with the purchases; the largest receipt makes some megabytes.
    public static let maximumSize = 16 * 1024 * 1024

    /// Whether JSON looks like such a response.
    public static func isRecognized(in json: JSONObject) -> Bool {
        guard let status = json["status"], (try? status.integer("status")) != nil else { return false }
        return json["receipt"] != nil || json["latest_receipt_info"] != nil || json.members.count <= 4
    }

    /// Throws `tooLarge`, or `malformed` if the bytes aren't JSON, are nested too deeply, or a known value is neither
    /// absent nor readable.
    public init(parsing bytes: [UInt8]) throws(Rejection) {
        guard bytes.count <= Self.maximumSize else {
            throw Rejection(.tooLarge, "an answer of verifyReceipt has at most \(Self.maximumSize) bytes")
        }
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw Rejection(error)
        }
        guard case .object(let object) = value else {
            throw Rejection(.malformed, "an answer of verifyReceipt is a JSON object")
        }
        try self.init(object)
    }

    public init(_ json: JSONObject) throws(Rejection) {
        let reader = LenientObject(json)
        guard let status = try reader.integer("status") else { throw Rejection(.malformed, "`status` is missing") }
        self.status = status
        environment = try reader.text("environment")
        receipt = try reader.object("receipt").map { receipt throws(Rejection) in try Receipt(receipt) }
        latestReceiptInfo = try reader.transactions("latest_receipt_info")
        var renewals: [PendingRenewal] = []
        for renewal in try reader.objects("pending_renewal_info") { renewals.append(try PendingRenewal(renewal)) }
        pendingRenewalInfo = renewals
        latestReceipt = try reader.text("latest_receipt")
        // Apple spells it in both ways.
        isRetryable = try reader.first(of: "is-retryable", "is_retryable", read: LenientObject.flag)
        self.json = json
    }
}

extension VerifyReceiptResponse.Receipt {
    fileprivate init(_ json: LenientObject) throws(Rejection) {
        receiptType = try json.text("receipt_type")
        // The receipts of iOS 6 are flat and have other names.
        bundleID = try json.first(of: "bundle_id", "bid", read: LenientObject.text)
        appAppleID = try json.first(of: "app_item_id", "adam_id", "item_id", read: LenientObject.unsigned)
        applicationVersion = try json.first(of: "application_version", "bvrs", read: LenientObject.text)
        downloadID = try json.unsigned("download_id")
        versionExternalIdentifier = try json.unsigned("version_external_identifier")
        creationDate = try json.date("receipt_creation_date")
        requestDate = try json.date("request_date")
        let isFlat = json.has("transaction_id")
        // In a flat receipt these are the transaction's.
        originalPurchaseDate = isFlat ? nil : try json.date("original_purchase_date")
        expirationDate = isFlat ? nil : try json.date("expiration_date")
        originalApplicationVersion = try json.text("original_application_version")
        preorderDate = try json.date("preorder_date")
        inApp = isFlat ? [try VerifyReceiptResponse.Transaction(json)] : try json.transactions("in_app")
    }
}

extension VerifyReceiptResponse.Transaction {
    fileprivate init(_ json: LenientObject) throws(Rejection) {
        productID = try json.text("product_id")
        transactionID = try json.text("transaction_id")
        originalTransactionID = try json.text("original_transaction_id")
        quantity = try json.unsigned("quantity")
        purchaseDate = try json.date("purchase_date")
        originalPurchaseDate = try json.date("original_purchase_date")
        expiresDate = try json.date("expires_date")
        cancellationDate = try json.date("cancellation_date")
        cancellationReason = try json.text("cancellation_reason")
        webOrderLineItemID = try json.text("web_order_line_item_id")
        isTrialPeriod = try json.flag("is_trial_period")
        isInIntroOfferPeriod = try json.flag("is_in_intro_offer_period")
        isUpgraded = try json.flag("is_upgraded")
        ownershipType = try json.text("in_app_ownership_type")
        subscriptionGroupIdentifier = try json.text("subscription_group_identifier")
        offerCodeRefName = try json.text("offer_code_ref_name")
        promotionalOfferID = try json.text("promotional_offer_id")
        appAccountToken = try json.text("app_account_token")
    }
}

extension VerifyReceiptResponse.PendingRenewal {
    fileprivate init(_ json: LenientObject) throws(Rejection) {
        originalTransactionID = try json.text("original_transaction_id")
        productID = try json.text("product_id")
        autoRenewProductID = try json.text("auto_renew_product_id")
        autoRenewStatus = try json.text("auto_renew_status")
        expirationIntent = try json.text("expiration_intent")
        gracePeriodExpiresDate = try json.date("grace_period_expires_date")
        isInBillingRetryPeriod = try json.flag("is_in_billing_retry_period")
        priceConsentStatus = try json.text("price_consent_status")
        priceIncreaseStatus = try json.text("price_increase_status")
        offerCodeRefName = try json.text("offer_code_ref_name")
        promotionalOfferID = try json.text("promotional_offer_id")
    }
}

extension LenientObject {
    /// An array of transactions; a single one may be there alone, as in responses for receipts of iOS 6.
    fileprivate func transactions(_ name: String) throws(Rejection) -> [VerifyReceiptResponse.Transaction] {
        var transactions: [VerifyReceiptResponse.Transaction] = []
        for transaction in try objects(name) {
            transactions.append(try VerifyReceiptResponse.Transaction(transaction))
        }
        return transactions
    }
}
