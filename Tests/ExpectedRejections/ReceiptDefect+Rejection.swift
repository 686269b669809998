package import TenureAppStore
package import TenureMint

extension ReceiptDefect {
    /// The code with which a verifier for `com.example.calculator` and Production rejects the receipt; nil if the
    /// verifier accepts the receipt.
    package var rejection: Rejection.Code? {
        switch self {
        case .digestMD5, .digestSHA512, .signatureECDSA, .mismatchedSignatureAlgorithm: .unsupportedAlgorithm
        case .noCertificates, .signerNotInBag: .malformed
        case .noIntermediate: .untrustedChain
        case .tamperedContent, .foreignSigner, .foreignSignedDigest: .badSignature
        case .futureCreation: .outsideValidityPeriod
        case .wrongBundle, .wrongBundleCase, .decomposedBundle: .wrongApp
        case .sandbox, .xcodeClaim, .unknownReceiptType: .wrongEnvironment
        case .oversized: .tooLarge
        case .noCreationDate, .unreadableCreationDate, .unknownAttributes, .repeatedUnknownAttribute,
            .unsortedAttributes, .rootFirst,
            .noNullParameters, .opensslSignedAttributes, .chunkedContent, .nestedChunks, .indefiniteLengths,
            .unreadableUndocumentedDate, .fractionalDate, .dateWithOffset, .foreignCertificateInBag, .tenCertificates,
            .garbageRoot:
            nil
        default: .malformed
        }
    }
}
