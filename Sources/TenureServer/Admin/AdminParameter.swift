import Foundation
import HTTPTypes
import Hummingbird
import TenureAPI

/// The rules for IDs and reasons in requests to the admin API.
enum AdminParameter {
    // The maximum lengths, in bytes.
    private static let idLimit = 256
    private static let reasonLimit = 1000

    /// Whether the text can be an ID: 1 to 256 bytes without control characters.
    static func isID(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= idLimit
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// Returns the text of this field unchanged. Throws `malformedRequest` if the text can't be an ID.
    static func id(_ text: String, _ field: String) throws(Problem) -> String {
        guard isID(text) else {
            throw Problem(
                .malformedRequest, "`\(field)` must have 1 to \(idLimit) bytes and no control characters")
        }
        return text
    }

    /// Returns the reason without surrounding whitespace. Throws `malformedRequest` if the reason is empty, too long,
    /// or has control characters other than tabs and line breaks.
    static func reason(_ text: String) throws(Problem) -> String {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.utf8.count <= reasonLimit,
            text.unicodeScalars.allSatisfy({
                $0.properties.generalCategory != .control || CharacterSet.whitespacesAndNewlines.contains($0)
            })
        else {
            throw Problem(
                .malformedRequest,
                "`reason` must have 1 to \(reasonLimit) bytes and no control characters except tabs and line breaks")
        }
        return text
    }
}

extension ServiceContext {
    /// Returns the path parameter with this name, percent-decoded. Throws `malformedRequest` if it can't be an ID.
    func pathID(_ name: String = "id") throws(Problem) -> String {
        guard let text = parameters.get(name)?.removingPercentEncoding else {
            throw Problem(.malformedRequest, "`\(name)` in the path isn't valid percent-encoded text")
        }
        return try AdminParameter.id(text, name)
    }
}

extension Request {
    /// Returns the query parameter `reason`, which requests without a body may have; nil if it's missing. Throws like
    /// `AdminParameter.reason`.
    func reason() throws(Problem) -> String? {
        guard let text = uri.queryParameters["reason"] else { return nil }
        return try AdminParameter.reason(String(text))
    }

    /// Returns the header `Idempotency-Key`; nil if it's missing. If a client repeats a request with the same key, its
    /// change is performed only once. Throws `malformedRequest` if the key can't be an ID.
    func idempotencyKey() throws(Problem) -> String? {
        guard let name = HTTPField.Name("Idempotency-Key"), let text = headers[name] else { return nil }
        return try AdminParameter.id(text, "Idempotency-Key")
    }
}
