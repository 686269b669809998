import Crypto
import Foundation
package import TenureAppStore

/// What can be wrong, or only unusual, with a JWS under a valid chain.
package enum JWSDefect: String, CaseIterable, Sendable, Hashable {
    // The header.
    case noAlgorithm, algorithmNone, algorithmLowerCase, algorithmES384, algorithmRS256
    /// HMAC with the signer's public key as the secret.
    case algorithmHS256
    case criticalHeader
    case noX5C, noCertificates, oneCertificate, twoCertificates, fourCertificates
    case urlSafeCertificate, newlineInCertificate, trailingCertificateByte, unreadableCertificate, x5cOfNumbers
    // The signature.
    case derSignature, foreignSignature, shortSignature
    case flippedHeaderBit, flippedPayloadBit, flippedSignatureBit
    // The spelling.
    case paddedSegment, nonCanonicalSignature, standardAlphabet, trailingNewline, fourthSegment, twoSegments
    // The payload.
    case payloadIsNoObject, duplicateKey, escapedDuplicateKey, deepNesting, oversized, invalidUTF8, trailingJSON
    case textDate, endlessDate, futureSigning
    case audience, endedClaim, futureIssue, futureBeginning
    case wrongBundle, wrongBundleCase, decomposedBundle, noBundle
    case wrongEnvironment, localTesting, noEnvironment
    case wrongAppAppleID, noAppAppleID
    // Notifications.
    case nestedOtherApp, nestedOtherEnvironment, nestedOtherSubscription, nestedUnsigned
    // Unusual, but valid.
    case garbageRoot, extraHeaderKeys, fractionalDate, unknownEnum, unknownField, dataAndSummary

    /// The verdict of a verifier that is configured for `com.example.calculator`, 828838134 and Production; nil if it
    /// accepts.
    package var rejection: Rejection.Code? {
        switch self {
        case .noAlgorithm, .algorithmNone, .algorithmLowerCase, .algorithmES384, .algorithmRS256, .algorithmHS256,
            .criticalHeader:
            .unsupportedAlgorithm
        case .noX5C, .noCertificates, .oneCertificate, .twoCertificates, .fourCertificates: .untrustedChain
        case .urlSafeCertificate, .newlineInCertificate, .trailingCertificateByte, .unreadableCertificate,
            .x5cOfNumbers:
            .malformed
        case .derSignature, .foreignSignature, .shortSignature, .flippedPayloadBit, .flippedSignatureBit: .badSignature
        // The certificate with the changed bit no longer has a valid signature of its issuer.
        case .flippedHeaderBit: .untrustedChain
        case .paddedSegment, .nonCanonicalSignature, .standardAlphabet, .trailingNewline, .fourthSegment, .twoSegments:
            .malformed
        case .payloadIsNoObject, .duplicateKey, .escapedDuplicateKey, .deepNesting, .invalidUTF8, .trailingJSON,
            .textDate,
            .endlessDate:
            .malformed
        case .oversized: .tooLarge
        case .audience: .malformed
        case .futureSigning, .endedClaim, .futureIssue, .futureBeginning: .outsideValidityPeriod
        case .wrongBundle, .wrongBundleCase, .decomposedBundle, .noBundle, .wrongAppAppleID, .noAppAppleID: .wrongApp
        case .wrongEnvironment, .localTesting, .noEnvironment: .wrongEnvironment
        case .nestedOtherApp: .wrongApp
        case .nestedOtherEnvironment: .wrongEnvironment
        case .nestedOtherSubscription: .malformed
        case .nestedUnsigned: .unsupportedAlgorithm
        case .garbageRoot, .extraHeaderKeys, .fractionalDate, .unknownEnum, .unknownField, .dataAndSummary: nil
        }
    }

    /// The kinds of artifact that can have the defect.
    package var kinds: [JWSKind] {
        switch self {
        case .nestedOtherApp, .nestedOtherEnvironment, .nestedOtherSubscription, .nestedUnsigned, .dataAndSummary:
            [.notification]
        case .wrongBundle, .wrongBundleCase, .decomposedBundle, .noBundle: [.appTransaction, .transaction]
        case .wrongAppAppleID, .noAppAppleID: [.appTransaction]
        // Renewal info without its environment has no sign of its app or environment, and is still rejected.
        case .wrongEnvironment, .localTesting, .noEnvironment, .unknownEnum:
            [.appTransaction, .transaction, .renewalInfo]
        default: [.appTransaction, .transaction, .renewalInfo, .notification]
        }
    }
}
