public import Foundation

/// What StoreKit found when it checked what the App Store signed.
@frozen public enum VerificationResult<SignedType> {
    /// The signature, its certificates or its device are not right. Whether to use the value all the same is the
    /// app's affair; an attacker can write anything into it.
    case unverified(SignedType, VerificationError)
    case verified(SignedType)

    /// The value; throws a `VerificationError` where it is unverified.
    public var payloadValue: SignedType {
        get throws {
            switch self {
            case .verified(let value): return value
            case .unverified(_, let error): throw error
            }
        }
    }

    /// The value, verified or not.
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
    public var debugDescription: String {
        switch self {
        case .verified(let value): "verified(\(String(reflecting: value)))"
        case .unverified(let value, let error): "unverified(\(String(reflecting: value)), \(error))"
        }
    }
}

extension VerificationResult {
    public enum VerificationError: Error, Equatable, Hashable, Sendable {
        /// A certificate was withdrawn; a local store has no such list, and never says it.
        case revokedCertificate
        /// The certificates do not lead to the App Store, or were not made for this.
        case invalidCertificateChain
        /// It was signed for another device.
        case invalidDeviceVerification
        /// The bytes are not what the format says.
        case invalidEncoding
        /// The signature does not belong to these bytes.
        case invalidSignature
        /// A field is missing, or is about another app, environment or kind.
        case missingRequiredProperties
    }
}

extension VerificationResult.VerificationError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .revokedCertificate: "a certificate was revoked"
        case .invalidCertificateChain: "the certificates do not lead to the App Store"
        case .invalidDeviceVerification: "it was signed for another device"
        case .invalidEncoding: "the bytes are not what the format says"
        case .invalidSignature: "the signature does not belong to it"
        case .missingRequiredProperties: "a field is missing or about something else"
        }
    }
}
