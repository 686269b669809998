public import TenureJSON

/// A response of Apple's `verifyReceipt`, its older API that turned a receipt into JSON. The response isn't signed, so
/// use it only to show it and to find customers by its IDs.
public struct VerifyReceiptResponse: Sendable, Hashable {
    /// The response as Apple sent it, with all fields.
    public let json: JSONObject
    /// Apple's status code: 0 for a valid receipt. With any other code, the response usually has nothing else.
    public let status: Int64
    /// The app receipt in Base64. Unlike the rest of the response, it can be verified.
    public let latestReceipt: String?
    /// IDs that may lead to a customer: the download ID, and the transaction IDs and account tokens of all purchases.
    public let ids: [String]

    /// The maximum size in bytes. The response to the largest receipt has several megabytes.
    public static let maximumSize = 16 * 1024 * 1024

    /// Whether the JSON looks like a response of `verifyReceipt`.
    public static func isRecognized(in json: JSONObject) -> Bool {
        guard let status = json["status"], (try? status.integer("status")) != nil else { return false }
        // An error has at most four fields: `status`, `environment`, `is-retryable` and `exception`.
        return json["receipt"] != nil || json["latest_receipt_info"] != nil || json.members.count <= 4
    }

    /// Reads a parsed response. Throws `malformed` if the status, an ID or the latest receipt has an invalid value.
    public init(_ json: JSONObject) throws(Rejection) {
        let response = LenientObject(json)
        guard let status = try response.integer("status") else { throw Rejection(.malformed, "`status` is missing") }
        let receipt = try response.object("receipt")
        var purchases = try response.objects("latest_receipt_info")
        if let receipt {
            // A receipt of iOS 6 has the fields of one purchase instead of a list.
            purchases += try receipt.has("transaction_id") ? [receipt] : receipt.objects("in_app")
        }
        var ids: [String] = []
        if let id = try receipt?.unsigned("download_id"), id != 0 { ids.append(String(id)) }
        for purchase in purchases {
            for name in ["original_transaction_id", "transaction_id", "app_account_token"] {
                if let id = try purchase.text(name) { ids.append(id) }
            }
        }
        self.json = json
        self.status = status
        self.ids = ids
        latestReceipt = try response.text("latest_receipt")
    }
}
