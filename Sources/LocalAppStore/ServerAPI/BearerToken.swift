import Crypto
import Foundation
import TenureJSON

/// A developer's token for the App Store Server API: a JWT with the app's bundle ID.
struct BearerToken {
    /// The bundle ID of the app that the request is about.
    let bundleID: String

    /// The value that Apple requires in the field `aud`.
    static let audience = "appstoreconnect-v1"
    /// The maximum time from `iat` to `exp`, in seconds.
    private static let maximumLifetime: Int64 = 60 * 60
    /// How far in the future `iat` may be, in seconds.
    private static let clockTolerance: Int64 = 60

    /// Verifies the token in the header `Authorization`. Nil if the token is missing or invalid in any way: the App
    /// Store answers 401 without a reason.
    init?(_ header: String?, key: ServerAPIKey, now: Date) {
        guard let header, header.hasPrefix("Bearer "), header.utf8.count < 8192 else { return nil }
        let parts = header.dropFirst("Bearer ".count).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64.urlSafe.decode(Array(parts[2].utf8)[...])
        else { return nil }
        guard head["alg"] == .string("ES256"), head["kid"] == .string(key.keyID), head["typ"] == .string("JWT"),
            signature.count == 64, let raw = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.privateKey.publicKey.isValidSignature(raw, for: Array("\(parts[0]).\(parts[1])".utf8))
        else { return nil }
        guard claims["iss"] == .string(key.issuerID), claims["aud"] == .string(Self.audience),
            let ends = Self.number(claims["exp"]), case .string(let bundleID)? = claims["bid"]
        else { return nil }
        let seconds = Int64(now.timeIntervalSince1970)
        // Apple's library for Python leaves out `iat`.
        let begins = claims["iat"] == nil ? seconds : Self.number(claims["iat"])
        // The bounds keep the subtraction from overflowing, because a token may contain any number.
        guard let begins, (0...1 << 40).contains(begins), (0...1 << 40).contains(ends),
            ends - begins <= Self.maximumLifetime, begins <= seconds + Self.clockTolerance, ends > seconds
        else { return nil }
        self.bundleID = bundleID
    }

    /// Decodes a segment of the token. Nil if the segment isn't a JSON object in Base64.
    private static func object(_ segment: Substring) -> JSONObject? {
        guard let bytes = Base64.urlSafe.decode(Array(segment.utf8)[...]),
            case .object(let object)? = try? JSONValue(parsing: bytes)
        else { return nil }
        return object
    }

    private static func number(_ value: JSONValue?) -> Int64? {
        guard case .number(let digits)? = value else { return nil }
        // Some libraries write whole seconds with a fraction.
        return Int64(digits) ?? Double(digits).flatMap { Int64(exactly: $0.rounded()) }
    }
}
