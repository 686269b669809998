import Crypto
import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

/// A value that the App Store signs as a JSON Web Signature (JWS), such as a transaction.
protocol SignedValue: Sendable {
    /// Reads a value without verifying it; nil if a field is missing that Apple's type always has.
    init?(_ signed: SignedText)

    /// Verifies a JWS, and returns the hash of the device for which it was signed; nil if it was signed for a server.
    static func verify(_ jws: [UInt8], by verifier: AppStoreVerifier) throws(Rejection) -> DeviceVerification?
}

/// The text of a JWS with its parts, read but not verified.
struct SignedText: Hashable, Sendable {
    let jws: String
    let payload: JSONObject
    let signature: P256.Signing.ECDSASignature

    /// Reads a JWS; nil if the text isn't a JWS, or if it has no readable signature.
    init?(_ jws: String) {
        guard let parsed = try? UnverifiedJWS(Array(jws.utf8)),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: Self.segment(2, of: jws))
        else { return nil }
        self.jws = jws
        payload = parsed.payload
        self.signature = signature
    }

    var headerData: Data { Self.segment(0, of: jws) }
    var payloadData: Data { Self.segment(1, of: jws) }
    var signatureData: Data { Self.segment(2, of: jws) }
    var payloadText: String { String(decoding: payloadData, as: UTF8.self) }

    /// The signed bytes.
    var signedData: Data { Data(jws.utf8.prefix(upTo: jws.utf8.lastIndex(of: UInt8(ascii: ".")) ?? jws.utf8.endIndex)) }

    /// Returns a segment of a JWS, decoded from Base64: 0 is the header, 1 the payload, and 2 the signature. Empty if
    /// it can't be decoded.
    private static func segment(_ number: Int, of jws: String) -> Data {
        let segments = jws.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard segments.indices.contains(number) else { return Data() }
        return Data(Base64.urlSafe.decode(Array(segments[number])[...]) ?? [])
    }

    static func == (left: SignedText, right: SignedText) -> Bool { left.jws == right.jws }
    func hash(into hasher: inout Hasher) { hasher.combine(jws) }
}

/// The fields of a signed payload that bind it to a device.
struct DeviceBinding {
    /// The SHA-384 hash of nonce and device ID, 48 bytes.
    let hash: Data
    let nonce: UUID

    init?(_ payload: JSONObject) {
        guard let text = payload.text("deviceVerification"), let hash = Base64.standard.decode(Array(text.utf8)[...]),
            let nonce = payload.uuid("deviceVerificationNonce")
        else { return nil }
        self.hash = Data(hash)
        self.nonce = nonce
    }
}

/// Reads members of a signed payload as values. Each method returns nil if the payload has no member with this name and
/// of this kind.
extension JSONObject {
    /// Reads an instant in milliseconds since 1970. Nil for numbers beyond `Date.maximumMilliseconds`.
    func date(_ name: String) -> Date? {
        guard let milliseconds = number(name).flatMap(Double.init), abs(milliseconds) <= Date.maximumMilliseconds
        else { return nil }
        return Date(timeIntervalSince1970: milliseconds.rounded() / 1000)
    }

    /// Reads an amount of money, which the payload has in thousandths of the currency's unit.
    func amount(_ name: String) -> Decimal? {
        number(name).flatMap { Int64($0) }.map { thousandths in
            Decimal(sign: thousandths < 0 ? .minus : .plus, exponent: -3, significand: Decimal(thousandths.magnitude))
        }
    }

    /// Reads an ISO 8601 duration.
    func period(_ name: String) -> Product.SubscriptionPeriod? {
        text(name).flatMap { Product.SubscriptionPeriod(iso8601: $0) }
    }

    /// Reads a JWS.
    func signedText(_ name: String) -> SignedText? { text(name).flatMap { SignedText($0) } }

    func uuid(_ name: String) -> UUID? { text(name).flatMap(UUID.init(uuidString:)) }
}
