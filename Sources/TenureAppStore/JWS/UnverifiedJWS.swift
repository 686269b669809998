public import Foundation
public import TenureJSON

/// A JWS that was parsed but not verified. An unverified JWS proves nothing: use it to display, search or sort, but not
/// to decide what a customer may use.
public struct UnverifiedJWS: Sendable, Hashable {
    /// The kind, recognized by the fields of the payload; nil if it isn't recognized.
    public let kind: JWSKind?
    /// The decoded header; nothing in it is verified.
    public let header: JSONObject
    /// The decoded payload. Its signature isn't verified.
    public let payload: JSONObject
    /// The readable certificates among the first ten in the header, not verified. Genuine headers have one or three.
    public let certificates: [CertificateSummary]

    /// Parses a compact JWS.
    ///
    /// Throws `tooLarge`, or `malformed` if there aren't three segments, or if the header or the payload isn't a JSON
    /// object.
    public init(_ jws: [UInt8]) throws(Rejection) {
        let segments = try JWSSegments(jws[...])
        let header = try segments.object(segments.header, as: "header")
        let payload = try segments.object(segments.payload, as: "payload")
        kind = JWSKind(of: payload)
        self.header = JSONObject(header, at: header.root)
        self.payload = JSONObject(payload, at: payload.root)
        let entries: [JSONValue] = if case .array(let elements)? = self.header["x5c"] { elements } else { [] }
        // Skip unreadable certificates. Verifying the JWS reports what is wrong with these certificates.
        certificates = entries.prefix(10).compactMap { entry in
            guard case .string(let base64) = entry, let der = Base64.standard.decode(Array(base64.utf8)[...])
            else { return nil }
            return try? ParsedCertificate(der: der).summary
        }
    }

    /// The signing date in the payload, which isn't verified. Nil if the payload has no valid date.
    public var signedDate: Date? {
        let name = kind == .appTransaction ? "receiptCreationDate" : "signedDate"
        guard case .number(let text)? = payload[name],
            let milliseconds = Double(text), abs(milliseconds) <= Date.maximumMilliseconds
        else { return nil }
        return Date(timeIntervalSince1970: milliseconds.rounded() / 1000)
    }

    /// The payloads of the artifacts in a notification, each with its path, such as `data.signedTransactionInfo`.
    /// Unreadable artifacts are left out. Empty if this isn't a notification.
    package var nested: [(name: String, payload: JSONObject)] {
        var nested: [(name: String, payload: JSONObject)] = []
        for part in ["data", "appData"] {
            guard case .object(let object)? = payload[part] else { continue }
            for name in ["signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo"] {
                guard case .string(let text)? = object[name], let jws = try? UnverifiedJWS(Array(text.utf8))
                else { continue }
                nested.append(("\(part).\(name)", jws.payload))
            }
        }
        return nested
    }
}
