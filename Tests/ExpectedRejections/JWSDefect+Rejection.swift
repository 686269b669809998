package import TenureAppStore
package import TenureMint

extension JWSDefect {
    /// The code with which a verifier for `com.example.calculator`, 828838134 and Production rejects the JWS; nil if
    /// the verifier accepts the JWS.
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
        // The signature of the changed certificate is no longer valid.
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
}
