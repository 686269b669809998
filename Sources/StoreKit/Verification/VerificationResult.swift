public import Crypto
public import Foundation
import TenureAppStore

/// A value that the App Store signed, and whether StoreKit could verify it.
@frozen public enum VerificationResult<SignedType>: CustomDebugStringConvertible {
    /// The signature, its certificates, the app or the device is wrong. The app decides whether to use the value
    /// anyway; an attacker can write anything into it.
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
