import Foundation
import HTTPTypes
import Hummingbird
import TenureAPI

/// A request to the admin API that has a valid admin key with the right for its route.
struct AdminCall {
    let request: Request
    let context: ServiceContext
    let bodySize: Int
    /// The name of the admin key, for the audit trail.
    let actor: String

    /// Reads the request's body. See `Request.decoded`.
    func body<Body: AdminRequest>(_ type: Body.Type) async throws -> Body {
        try await request.decoded(type, upTo: bodySize, in: context)
    }
}

/// The rules for IDs and reasons in requests to the admin API.
enum AdminParameter {
    private static let maximumIDLength = 256
    private static let maximumReasonLength = 1000

    /// Whether the text can be an ID: 1 to 256 bytes without control characters. PostgreSQL rejects text with a NUL.
    static func isID(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= maximumIDLength
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// Returns the text of this field unchanged. Throws `malformedRequest` if it can't be an ID or a name.
    static func id(_ text: String, _ field: String) throws(Problem) -> String {
        guard isID(text) else {
            throw Problem(
                .malformedRequest, "`\(field)` must have 1 to \(maximumIDLength) bytes and no control characters")
        }
        return text
    }

    /// Returns the reason without surrounding whitespace. Throws `malformedRequest` if the reason is empty, too long,
    /// or has control characters other than tabs and line breaks.
    static func reason(_ text: String) throws(Problem) -> String {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.utf8.count <= maximumReasonLength,
            text.unicodeScalars.allSatisfy({
                $0.properties.generalCategory != .control || CharacterSet.whitespacesAndNewlines.contains($0)
            })
        else {
            throw Problem(
                .malformedRequest,
                "`reason` must have 1 to \(maximumReasonLength) bytes and no control characters except line breaks")
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
    /// The query parameter `reason`, for requests without a body; nil if it's missing.
    func reason() throws(Problem) -> String? {
        guard let text = uri.queryParameters["reason"] else { return nil }
        return try AdminParameter.reason(String(text))
    }

    /// The query parameter `limit`; 100 if it's missing.
    func pageSize() throws(Problem) -> Int {
        guard let text = uri.queryParameters["limit"] else { return 100 }
        guard let number = Int(text), (1...500).contains(number) else {
            throw Problem(.malformedRequest, "`limit` must be a whole number from 1 to 500")
        }
        return number
    }

    /// The position from which a list continues: the query parameter `name`; nil if it's missing, for the first page.
    ///
    /// - Parameter field: The field of the previous page's response that has the position, for the error message.
    func position(_ name: String, from field: String) throws(Problem) -> Int64? {
        guard let text = uri.queryParameters[Substring(name)] else { return nil }
        guard let number = Int64(text), number > 0 else {
            throw Problem(.malformedRequest, "`\(name)` must be the `\(field)` of the previous page")
        }
        return number
    }

    /// The header `Idempotency-Key`, with which a repeated request is performed only once; nil if it's missing.
    func idempotencyKey() throws(Problem) -> String? {
        guard let name = HTTPField.Name("Idempotency-Key"), let text = headers[name] else { return nil }
        return try AdminParameter.id(text, "Idempotency-Key")
    }
}
