public import Foundation
public import TenureJSON

/// A response of Apple's `verifyReceipt`, read for display only.
/// It isn't signed, and anyone could have written it, so it can't become evidence.
public struct VerifyReceiptResponse: Sendable, Hashable {
    /// 0 for a valid receipt; otherwise `receipt` is usually absent.
    public let status: Int64
    /// `Production` or `Sandbox`.
    public let environment: String?
    public let receipt: Receipt?
    public let latestReceiptInfo: [Transaction]
    public let pendingRenewalInfo: [PendingRenewal]
    /// Base64 of the app receipt. Unlike the rest, it can be verified.
    public let latestReceipt: String?
    public let isRetryable: Bool?
    /// The whole response, with unknown members.
    public let json: JSONObject

    public struct Receipt: Sendable, Hashable {
        public let receiptType: String?
        public let bundleID: String?
        public let appAppleID: UInt64?
        public let applicationVersion: String?
        public let downloadID: UInt64?
        public let versionExternalIdentifier: UInt64?
        public let creationDate: Date?
        public let requestDate: Date?
        public let originalPurchaseDate: Date?
        public let originalApplicationVersion: String?
        public let preorderDate: Date?
        public let expirationDate: Date?
        public let inApp: [Transaction]
    }

    public struct Transaction: Sendable, Hashable {
        public let productID: String?
        public let transactionID: String?
        public let originalTransactionID: String?
        public let quantity: UInt64?
        public let purchaseDate: Date?
        public let originalPurchaseDate: Date?
        public let expiresDate: Date?
        public let cancellationDate: Date?
        public let cancellationReason: String?
        public let webOrderLineItemID: String?
        public let isTrialPeriod: Bool?
        public let isInIntroOfferPeriod: Bool?
        public let isUpgraded: Bool?
        /// `PURCHASED` or `FAMILY_SHARED`.
        public let ownershipType: String?
        public let subscriptionGroupIdentifier: String?
        public let offerCodeRefName: String?
        public let promotionalOfferID: String?
        public let appAccountToken: String?
    }

    public struct PendingRenewal: Sendable, Hashable {
        public let originalTransactionID: String?
        public let productID: String?
        public let autoRenewProductID: String?
        public let autoRenewStatus: String?
        public let expirationIntent: String?
        public let gracePeriodExpiresDate: Date?
        public let isInBillingRetryPeriod: Bool?
        public let priceConsentStatus: String?
        public let priceIncreaseStatus: String?
        public let offerCodeRefName: String?
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
