import Foundation

@frozen public enum VerificationResult<SignedType> {
    case unverified(SignedType, VerificationError)
    case verified(SignedType)

    public enum VerificationError: Error {
        case revokedCertificate
        case invalidCertificateChain
        case invalidDeviceVerification
        case invalidEncoding
        case invalidSignature
        case missingRequiredProperties
    }

    public var payloadValue: SignedType {
        get throws { throw StoreKitError.unknown }
    }

    public var unsafePayloadValue: SignedType {
        switch self {
        case .verified(let value), .unverified(let value, _): value
        }
    }
}

extension VerificationResult: Sendable where SignedType: Sendable {}

extension VerificationResult where SignedType == AppTransaction {
    public var jwsRepresentation: String { "" }
}

extension VerificationResult where SignedType == Transaction {
    public var jwsRepresentation: String { "" }
}

extension VerificationResult where SignedType == Product.SubscriptionInfo.RenewalInfo {
    public var jwsRepresentation: String { "" }
}
