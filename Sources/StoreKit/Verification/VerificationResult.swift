public import Crypto
public import Foundation
import TenureAppStore
import TenureCore
import TenureJSON

/// A value that the App Store signed, and whether StoreKit could verify it.
@frozen public enum VerificationResult<SignedType>: CustomDebugStringConvertible {
    /// The signature, its certificates or the device that it was made for are wrong. The app decides whether to use the
    /// value anyway; an attacker can write anything into it.
    case unverified(SignedType, VerificationError)
    /// Signed by the roots that the device trusts, for this app and this device.
    case verified(SignedType)

    /// The value; throws a `VerificationError` if it is unverified.
    public var payloadValue: SignedType {
        get throws {
            switch self {
            case .verified(let value): return value
            case .unverified(_, let error): throw error
            }
        }
    }

    /// The value, even if it is unverified.
    public var unsafePayloadValue: SignedType {
        switch self {
        case .verified(let value), .unverified(let value, _): value
        }
    }

    /// The value's payload as JSON, with the error if there is one.
    public var debugDescription: String {
        switch self {
        case .verified(let value): "verified(\(String(reflecting: value)))"
        case .unverified(let value, let error): "unverified(\(String(reflecting: value)), \(error))"
        }
    }

    /// Why a value is unverified.
    public enum VerificationError: Error, LocalizedError, Equatable, Hashable, Sendable {
        /// A certificate was revoked. A local App Store has no list of revoked certificates, and never reports this
        /// error.
        case revokedCertificate
        /// The certificates don't lead to the App Store, or have another purpose.
        case invalidCertificateChain
        /// The value was signed for another device.
        case invalidDeviceVerification
        /// The bytes don't have the expected format.
        case invalidEncoding
        /// The signature doesn't match these bytes.
        case invalidSignature
        /// A field is missing, or belongs to another app, environment or kind.
        case missingRequiredProperties

        /// English text by this package; Apple's text is localized.
        public var errorDescription: String? {
            switch self {
            case .revokedCertificate: "a certificate was revoked"
            case .invalidCertificateChain: "the certificates don't lead to the App Store"
            case .invalidDeviceVerification: "the value was signed for another device"
            case .invalidEncoding: "the bytes don't have the expected format"
            case .invalidSignature: "the signature doesn't match the signed bytes"
            case .missingRequiredProperties: "a field is missing, or belongs to another app or environment"
            }
        }
    }
}

extension VerificationResult: Equatable where SignedType: Equatable {}
extension VerificationResult: Hashable where SignedType: Hashable {}
extension VerificationResult: Sendable where SignedType: Sendable {}

extension VerificationResult where SignedType == AppTransaction {
    /// The JWS as the App Store signed it.
    public var jwsRepresentation: String { unsafePayloadValue.signedText.jws }
    /// The first segment of the JWS, decoded from Base64.
    public var headerData: Data { unsafePayloadValue.signedText.headerData }
    /// The second segment of the JWS, decoded from Base64.
    public var payloadData: Data { unsafePayloadValue.signedText.payloadData }
    /// The third segment of the JWS, decoded from Base64: 64 bytes.
    public var signatureData: Data { unsafePayloadValue.signedText.signatureData }
    /// The signature as a value of swift-crypto, which takes the place of CryptoKit.
    public var signature: P256.Signing.ECDSASignature { unsafePayloadValue.signedText.signature }
    /// The signed bytes: the first two segments and the period between them.
    public var signedData: Data { unsafePayloadValue.signedText.signedData }
    /// When the local App Store signed the app transaction, according to the payload.
    public var signedDate: Date { unsafePayloadValue.signedDate }
    /// The SHA-384 hash (48 bytes) of two UUIDs in lower case: the nonce, then `AppStore.deviceVerificationID`.
    public var deviceVerification: Data { unsafePayloadValue.deviceVerification }
    /// The UUID that was hashed with the device ID, according to the payload.
    public var deviceVerificationNonce: UUID { unsafePayloadValue.deviceVerificationNonce }
}

extension VerificationResult where SignedType == Transaction {
    /// The JWS as the App Store signed it.
    public var jwsRepresentation: String { unsafePayloadValue.signedText.jws }
    /// The first segment of the JWS, decoded from Base64.
    public var headerData: Data { unsafePayloadValue.signedText.headerData }
    /// The second segment of the JWS, decoded from Base64.
    public var payloadData: Data { unsafePayloadValue.signedText.payloadData }
    /// The third segment of the JWS, decoded from Base64: 64 bytes.
    public var signatureData: Data { unsafePayloadValue.signedText.signatureData }
    /// The signature as a value of swift-crypto, which takes the place of CryptoKit.
    public var signature: P256.Signing.ECDSASignature { unsafePayloadValue.signedText.signature }
    /// The signed bytes: the first two segments and the period between them.
    public var signedData: Data { unsafePayloadValue.signedText.signedData }
    /// When the local App Store signed the transaction, according to the payload.
    public var signedDate: Date { unsafePayloadValue.signedDate }
    /// The SHA-384 hash (48 bytes) of two UUIDs in lower case: the nonce, then `AppStore.deviceVerificationID`.
    public var deviceVerification: Data { unsafePayloadValue.deviceVerification }
    /// The UUID that was hashed with the device ID, according to the payload.
    public var deviceVerificationNonce: UUID { unsafePayloadValue.deviceVerificationNonce }
}

extension VerificationResult where SignedType == Product.SubscriptionInfo.RenewalInfo {
    /// The JWS as the App Store signed it.
    public var jwsRepresentation: String { unsafePayloadValue.signedText.jws }
    /// The first segment of the JWS, decoded from Base64.
    public var headerData: Data { unsafePayloadValue.signedText.headerData }
    /// The second segment of the JWS, decoded from Base64.
    public var payloadData: Data { unsafePayloadValue.signedText.payloadData }
    /// The third segment of the JWS, decoded from Base64: 64 bytes.
    public var signatureData: Data { unsafePayloadValue.signedText.signatureData }
    /// The signature as a value of swift-crypto, which takes the place of CryptoKit.
    public var signature: P256.Signing.ECDSASignature { unsafePayloadValue.signedText.signature }
    /// The signed bytes: the first two segments and the period between them.
    public var signedData: Data { unsafePayloadValue.signedText.signedData }
    /// When the local App Store signed the renewal info, according to the payload.
    public var signedDate: Date { unsafePayloadValue.signedDate }
    /// The SHA-384 hash (48 bytes) of two UUIDs in lower case: the nonce, then `AppStore.deviceVerificationID`.
    public var deviceVerification: Data { unsafePayloadValue.deviceVerification }
    /// The UUID that was hashed with the device ID, according to the payload.
    public var deviceVerificationNonce: UUID { unsafePayloadValue.deviceVerificationNonce }
}

/// A value that the App Store signs as a JSON Web Signature (JWS), such as a transaction.
protocol SignedValue: Sendable {
    /// Reads a value without verifying it; nil if a field is missing that Apple's type always has.
    init?(_ signed: SignedText)

    /// Verifies a JWS, and returns the hash of the device for which it was signed.
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

extension VerificationResult where SignedType: SignedValue {
    /// Verifies a JWS as StoreKit does on a device. Nil if the JWS can't be read, or if a field is missing that Apple's
    /// type always has.
    static func checking(_ jws: String, by verifier: AppStoreVerifier, onDevice device: UUID) -> Self? {
        guard let signed = SignedText(jws), let value = SignedType(signed) else { return nil }
        do throws(Rejection) {
            let binding = try SignedType.verify(Array(jws.utf8), by: verifier)
            guard binding?.matches(deviceVerificationID: device) == true else {
                return .unverified(value, .invalidDeviceVerification)
            }
            return .verified(value)
        } catch {
            return .unverified(value, VerificationError(error.code))
        }
    }
}

extension VerificationResult.VerificationError {
    fileprivate init(_ code: Rejection.Code) {
        self =
            switch code {
            case .badSignature: .invalidSignature
            case .malformed, .tooLarge, .unsupportedAlgorithm: .invalidEncoding
            case .untrustedChain, .wrongPurpose, .outsideValidityPeriod, .tooManyUnknownSigners, .misconfigured:
                .invalidCertificateChain
            case .wrongApp, .wrongEnvironment, .wrongKind: .missingRequiredProperties
            }
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
