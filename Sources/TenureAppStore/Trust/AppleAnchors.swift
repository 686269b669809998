/// Recognizes Apple's root certificates. Artifacts under any other root are test artifacts.
package enum AppleAnchors {
    private static let fingerprints = Set(TrustAnchors.apple.summaries.map(\.fingerprint))

    /// Whether a root certificate of Apple has this fingerprint.
    package static func contains(fingerprint: String) -> Bool { fingerprints.contains(fingerprint) }

    /// Whether the last certificate of a verified chain, its anchor, is one of Apple's roots.
    package static func containAnchor(of certificates: [CertificateSummary]) -> Bool {
        certificates.last.map { contains(fingerprint: $0.fingerprint) } ?? false
    }
}
