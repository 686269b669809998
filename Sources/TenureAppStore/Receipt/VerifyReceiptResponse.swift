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

/// Reads a JSON object of `verifyReceipt`, Apple's older API for receipts. In its responses, a number may be written as
/// a string, and a string as a number.
///
/// A value that is missing, null or an empty string is nil. A value that can't be converted to the requested type is
/// malformed.
struct LenientObject {
    private let json: JSONObject

    init(_ object: JSONObject) { json = object }

    func has(_ name: String) -> Bool { value(name) != nil }

    /// Returns the value of a field; nil if it is missing, null or an empty string.
    private func value(_ name: String) -> JSONValue? {
        switch json[name] {
        case nil, .null, .string(""): nil
        case let value: value
        }
    }

    func text(_ name: String) throws(Rejection) -> String? {
        switch value(name) {
        case nil: return nil
        case .string(let text), .number(let text): return text
        case .boolean(let flag): return flag ? "true" : "false"
        default: throw malformed(name)
        }
    }

    func integer(_ name: String) throws(Rejection) -> Int64? { try value(name)?.integer(name) }

    func unsigned(_ name: String) throws(Rejection) -> UInt64? {
        guard let text = try text(name) else { return nil }
        guard let number = UInt64(text)
        else { throw Rejection(.malformed, "`\(name)` isn't a whole number from 0 to \(UInt64.max)") }
        return number
    }

    func object(_ name: String) throws(Rejection) -> LenientObject? {
        try value(name).map { (value) throws(Rejection) in try object(value, name) }
    }

    /// Returns an array of objects. A single object is read as an array with one element.
    func objects(_ name: String) throws(Rejection) -> [LenientObject] {
        switch value(name) {
        case nil: return []
        case .array(let elements): return try elements.map { (element) throws(Rejection) in try object(element, name) }
        case let value?: return [try object(value, name)]
        }
    }

    private func object(_ value: JSONValue, _ name: String) throws(Rejection) -> LenientObject {
        guard case .object(let object) = value else { throw malformed(name) }
        return LenientObject(object)
    }

    private func malformed(_ name: String) -> Rejection {
        Rejection(.malformed, "the value of `\(name)` has the wrong type")
    }
}

extension JSONValue {
    /// Reads a whole number that is written as a number or as a string.
    func integer(_ name: String) throws(Rejection) -> Int64 {
        let text: String? =
            switch self {
            case .number(let text), .string(let text): text
            default: nil
            }
        guard let text, let number = Int64(text) else { throw Rejection(.malformed, "`\(name)` isn't a whole number") }
        return number
    }
}
