public import Foundation

/// A value that the App Store signed, and whether StoreKit could verify it.
@frozen public enum VerificationResult<SignedType> {
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
}

extension VerificationResult: Equatable where SignedType: Equatable {}
extension VerificationResult: Hashable where SignedType: Hashable {}
extension VerificationResult: Sendable where SignedType: Sendable {}

extension VerificationResult: CustomDebugStringConvertible {
    /// The value's payload as JSON, with the error if there is one.
    public var debugDescription: String {
        switch self {
        case .verified(let value): "verified(\(String(reflecting: value)))"
        case .unverified(let value, let error): "unverified(\(String(reflecting: value)), \(error))"
        }
    }
}

extension VerificationResult {
    /// Why a value is unverified.
    public enum VerificationError: Error, Equatable, Hashable, Sendable {
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
    }
}

extension VerificationResult.VerificationError: LocalizedError {
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
