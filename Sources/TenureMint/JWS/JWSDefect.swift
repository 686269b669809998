package import TenureAppStore

/// Defects of a JWS with a valid chain, and unusual but valid variants. The raw values are names for
/// `tenure mint --defect`; `corrupt` in `CorruptedJWS.swift` makes each defect.
package enum JWSDefect: String, CaseIterable, Sendable, Hashable {
    // The header.
    case noAlgorithm, algorithmNone, algorithmLowerCase, algorithmES384, algorithmRS256
    /// HMAC with the signer's public key as the secret.
    case algorithmHS256
    /// The header has a critical extension (`crit`).
    case criticalHeader
    /// The header has no `x5c`, or an `x5c` without certificates or with one, two or four instead of three.
    case noX5C, noCertificates, oneCertificate, twoCertificates, fourCertificates
    case urlSafeCertificate, newlineInCertificate, trailingCertificateByte, unreadableCertificate, x5cOfNumbers
    // The signature. `foreignSignature` is the signature of other bytes.
    case derSignature, foreignSignature, shortSignature
    case flippedHeaderBit, flippedPayloadBit, flippedSignatureBit
    // The encoding: the Base64 of the segments, and their number.
    case paddedSegment, nonCanonicalSignature, standardAlphabet, trailingNewline, fourthSegment, twoSegments
    // The payload.
    case payloadIsNoObject, duplicateKey, escapedDuplicateKey, deepNesting, oversized, invalidUTF8, trailingJSON
    /// The signing date is a string, a number that is too large, or in the future.
    case textDate, endlessDate, futureSigning
    /// The claims of RFC 7519: `aud`, `exp` in the past, and `iat` and `nbf` in the future.
    case audience, endedClaim, futureIssue, futureBeginning
    /// The bundle ID is another app's, in upper case, in another Unicode encoding, or missing.
    case wrongBundle, wrongBundleCase, decomposedBundle, noBundle
    /// The environment is Sandbox, the unknown `LocalTesting`, or null.
    case wrongEnvironment, localTesting, noEnvironment
    case wrongAppAppleID, noAppAppleID
    // Notifications, in which the nested transaction has the defect.
    case nestedOtherApp, nestedOtherEnvironment, nestedOtherSubscription, nestedUnsigned
    // Unusual, but valid.
    /// The last certificate in `x5c` can't be read. Verifiers use their own root instead of that one.
    case garbageRoot
    case extraHeaderKeys, fractionalDate
    /// A field has a value, or the payload has a field, that Apple may add later.
    case unknownEnum, unknownField
    /// The notification has `summary` besides `data`. Verifiers read `data`.
    case dataAndSummary

    /// The kinds of artifact that can have the defect.
    package var kinds: [JWSKind] {
        switch self {
        case .nestedOtherApp, .nestedOtherEnvironment, .nestedOtherSubscription, .nestedUnsigned, .dataAndSummary:
            [.notification]
        case .wrongBundle, .wrongBundleCase, .decomposedBundle, .noBundle:
            [.appTransaction, .transaction, .notification]
        case .wrongAppAppleID, .noAppAppleID: [.appTransaction, .notification]
        // Renewal info never names its app. If it doesn't name its environment either, verifiers must reject it, too.
        case .unknownEnum: [.appTransaction, .transaction, .renewalInfo]
        default: [.appTransaction, .transaction, .renewalInfo, .notification]
        }
    }
}
