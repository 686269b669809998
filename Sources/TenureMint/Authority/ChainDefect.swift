/// The defects of a chain, and one unusual but valid variant (`leafExpiredSince`). The root is the test authority's
/// own, unless the defect is in the root.
///
/// The raw values are names for `tenure mint --defect`, except `rootExpiredAtSigning`: only a verifier that trusts the
/// expired root rejects that chain as expired.
package enum ChainDefect: String, CaseIterable, Sendable, Hashable {
    /// Apple's markers (`AppleMarker`): the leaf or the intermediate has no marker, the two markers are swapped, or the
    /// leaf's marker is a critical extension.
    case missingLeafMarker, missingIntermediateMarker, swappedMarkers, criticalMarker
    /// The leaf has a critical extension that verifiers don't know.
    case unknownCriticalExtension
    /// The root is another one with the same name and another key, which verifiers don't trust.
    case namesakeRoot
    /// One of the certificates had expired a day before the signing date.
    case leafExpiredAtSigning, intermediateExpiredAtSigning, rootExpiredAtSigning
    /// The intermediate's basic constraints say that it may not issue certificates.
    case intermediateNotAuthority
    /// The test authority's leaf, which may not issue certificates, is used as the intermediate.
    case leafAsIntermediate
    /// The leaf's basic constraints say that it may issue certificates.
    case leafIsAuthority
    /// The leaf has a key of another algorithm: in the chain for JWS, P-384 instead of P-256; in the chain for
    /// receipts, P-256 instead of RSA.
    case foreignKey
    /// The leaf was valid at the signing date, and expired a minute later. Verifiers accept this chain.
    case leafExpiredSince
}
