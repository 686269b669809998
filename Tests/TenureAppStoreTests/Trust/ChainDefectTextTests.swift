import Foundation
import TenureMint
import Testing

@testable import TenureAppStore

/// What operators read when a chain of certificates is rejected.
@Suite struct ChainDefectTextTests {
    private static let leaf = "CN=Tenure Test App Store Receipt Signing (JWS),O=Tenure Test Authority,C=US"
    private static let intermediate = "CN=Tenure Test Developer Relations CA (JWS),O=Tenure Test Authority,C=US"
    private static let root = "CN=Tenure Test Root CA (JWS),O=Tenure Test Authority,C=US"

    private static let texts: [ChainDefect: String] = [
        .missingLeafMarker: "`\(leaf)` lacks Apple's extension 1.2.840.113635.100.6.11.1",
        .missingIntermediateMarker: "`\(intermediate)` lacks Apple's extension 1.2.840.113635.100.6.2.1",
        .swappedMarkers: "`\(leaf)` lacks Apple's extension 1.2.840.113635.100.6.11.1",
        .criticalMarker: "Apple's extension 1.2.840.113635.100.6.11.1 is critical in `\(leaf)`",
        .unknownCriticalExtension: "`\(leaf)` has an unknown critical extension, 1.3.6.1.4.1.99999.1",
        .namesakeRoot: "`\(intermediate)` was signed with another key of its issuer",
        .intermediateNotAuthority: "`\(intermediate)` isn't a certificate authority",
        .leafAsIntermediate: "no trusted root has the name `\(intermediate)`",
        .leafIsAuthority: "`\(leaf)` is a certificate authority, which never signs artifacts",
        .foreignKey: "a JWS is signed with a P-256 key, not with another kind of key",
        .leafExpiredAtSigning: expired(leaf),
        .intermediateExpiredAtSigning: expired(intermediate),
        .rootExpiredAtSigning: expired(root),
    ]

    private static func expired(_ name: String) -> String {
        """
        the certificate `\(name)` is valid from 2008-01-01T00:00:00Z until 2026-11-19T12:00:00Z, and the artifact was \
        signed at 2026-11-20T12:00:00Z
        """
    }

    @Test(arguments: texts.keys.sorted { $0.rawValue < $1.rawValue })
    func `the text for a defect in a certificate chain names the certificate and the defect`(defect: ChainDefect) throws
    {
        let chain = try Minted.authority.chain(for: .jws, defect: defect, signedAt: Minted.instant)
        let root = defect == .rootExpiredAtSigning ? chain.root : Minted.authority.jws.root
        let anchors = try TrustAnchors(der: [root.der])
        let found = rejection {
            let intermediate = try ParsedCertificate(der: chain.intermediate.der)
            let anchor = try intermediate.anchor(among: anchors, purpose: .jws)
            let trusted = try trustedChain(
                leaf: ParsedCertificate(der: chain.leaf.der), intermediate: intermediate, anchor: anchor, purpose: .jws)
            try trusted.checkValidity(at: Minted.instant)
        }
        #expect(found?.detail == Self.texts[defect])
    }

    @Test func `a receipt's signer with a key of another kind is rejected with the kind that it needs`() throws {
        let minted = try ReceiptTestBed.minter().mint(with: .foreignKey)
        let verifier = try ReceiptTestBed.verifier(trusting: minted.anchors)
        let found = try ReceiptTestBed.rejection(of: minted.receipt, by: verifier)
        #expect(found?.code == .unsupportedAlgorithm)
        #expect(found?.detail == "a receipt is signed with an RSA key, not with another kind of key")
    }

    @Test func `a certificate above 16 KiB is too large`() {
        let largest = rejection { try ParsedCertificate(der: [UInt8](repeating: 0, count: 16 * 1024)) }
        #expect(largest?.code == .malformed)
        #expect(largest?.detail == "a certificate can't be read: its ASN.1 is damaged")
        let larger = rejection { try ParsedCertificate(der: [UInt8](repeating: 0, count: 16 * 1024 + 1)) }
        #expect(larger?.code == .tooLarge)
        #expect(larger?.detail == "a certificate has 16385 bytes, which is more than any genuine one has")
    }

    @Test func `the text for trust anchors that can't be read says what is wrong, also after a readable certificate`()
        throws
    {
        let base64 = Data(try #require(TrustAnchors.apple.certificates.first).der).base64EncodedString()
        let sound = "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
        for (text, detail) in [
            ("", "the list of trusted certificates is empty; pass at least one root certificate"),
            ("# no certificate", "the list of trusted certificates is empty; pass at least one root certificate"),
            (
                "-----BEGIN CERTIFICATE-----\n\(base64)",
                "the PEM text ends inside a certificate; export the certificate again"
            ),
            (
                "\(sound)-----BEGIN CERTIFICATE-----\nMIIE",
                "the PEM text ends inside a certificate; export the certificate again"
            ),
            (
                "\(sound)-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----",
                "a certificate in the PEM text isn't valid Base64; export the certificate again"
            ),
            (
                "\(sound)-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----",
                "a trusted certificate is invalid: a certificate can't be read: its ASN.1 is damaged"
            ),
        ] {
            let found = rejection { try TrustAnchors(Array(text.utf8)) }
            #expect(found?.code == .misconfigured)
            #expect(found?.detail == detail)
        }
        #expect(
            rejection { try TrustConfiguration(anchors: [:]) }?.detail
                == "no environment is accepted; pass the trusted certificates of at least one")
    }
}
