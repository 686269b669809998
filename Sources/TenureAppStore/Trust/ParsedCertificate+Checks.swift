import Crypto
import CryptoExtras
package import SwiftASN1
import X509

/// The checks of one certificate in a chain.
extension ParsedCertificate {
    /// Returns the anchor (a trusted root) that signed this intermediate certificate. Both must be certificate
    /// authorities.
    ///
    /// If `useBudget` throws, the search ends.
    func anchor(
        among anchors: TrustAnchors, purpose: ChainPurpose, useBudget: BudgetUse = {}
    ) throws(Rejection) -> ParsedCertificate {
        // Several roots may have the same name. The signature decides which root issued the certificate.
        let anchorsWithSameName = anchors.certificates.filter { $0.subject == issuer }
        guard !anchorsWithSameName.isEmpty
        else { throw Rejection(.untrustedChain, "no trusted root has the name `\(x509.issuer)`", missingTrust: .root) }
        // Check the intermediate first: if it isn't an authority, no signature check is needed.
        try checkIsAuthority(intermediatesBelow: 0)
        var rejection: Rejection?
        for anchor in anchorsWithSameName {
            do {
                try anchor.checkIsAuthority(intermediatesBelow: 1)
                try checkIsSigned(by: anchor, purpose: purpose, useBudget: useBudget)
                return anchor
            } catch {
                // Go on: another root with the same name may have signed the certificate.
                if error.code == .tooManyUnknownSigners { throw error }
                rejection = rejection ?? error
            }
        }
        throw rejection ?? Rejection(.untrustedChain, "no trusted root signed `\(x509.subject)`", missingTrust: .root)
    }

    /// Checks that the issuer signed this certificate: names, key identifiers and the signature (RFC 5280, section
    /// 6.1.3).
    func checkIsSigned(
        by issuer: ParsedCertificate, purpose: ChainPurpose, useBudget: BudgetUse = {}
    ) throws(Rejection) {
        try check(
            self.issuer == issuer.subject, .untrustedChain,
            "was issued by `\(x509.issuer)`, not by `\(issuer.x509.subject)`")
        if let expected = try authorityKeyIdentifier(), let actual = try issuer.subjectKeyIdentifier() {
            try check(expected == actual, .untrustedChain, "was signed with another key of its issuer")
        }
        let algorithm = x509.signatureAlgorithm
        try check(purpose.allows(algorithm), .unsupportedAlgorithm, "is signed with \(algorithm), which isn't accepted")
        try useBudget()
        try check(
            issuer.x509.publicKey.isValidSignature(x509.signature, for: x509), .untrustedChain,
            "isn't signed with the key of `\(issuer.x509.subject)`")
    }

    /// Checks that this certificate may issue other certificates (RFC 5280, sections 4.2.1.3 and 4.2.1.9).
    ///
    /// - Parameter intermediatesBelow: the number of intermediates between this certificate and the signer's.
    func checkIsAuthority(intermediatesBelow: Int) throws(Rejection) {
        try checkVersionAndCriticalExtensions()
        guard case .isCertificateAuthority(let maxPathLength)? = try basicConstraints()
        else { throw Rejection(.untrustedChain, "`\(x509.subject)` isn't a certificate authority") }
        try check(
            maxPathLength ?? .max >= intermediatesBelow, .untrustedChain,
            "allows fewer intermediates below it than the chain has")
        try check(try keyUsage()?.keyCertSign != false, .untrustedChain, "may not sign certificates")
    }

    /// Checks that Apple issued this certificate and the intermediate for signing App Store data. Every developer's
    /// certificate leads to the same root, so without this check every developer could sign artifacts.
    func checkIsSigner(intermediate: ParsedCertificate) throws(Rejection) {
        try checkVersionAndCriticalExtensions()
        if case .isCertificateAuthority = try basicConstraints() {
            throw Rejection(.wrongPurpose, "`\(x509.subject)` is a certificate authority, which never signs artifacts")
        }
        try check(try keyUsage()?.digitalSignature != false, .wrongPurpose, "may not sign data")
        try checkHas(AppleMarker.receiptSigner)
        try intermediate.checkHas(AppleMarker.developerRelations)
    }

    /// Checks that the certificate has the extension with which Apple marks its purpose. The extension must not be
    /// critical.
    private func checkHas(_ marker: ASN1ObjectIdentifier) throws(Rejection) {
        guard let markerExtension = x509.extensions[oid: marker]
        else { throw Rejection(.wrongPurpose, "`\(x509.subject)` lacks Apple's extension \(marker)") }
        guard !markerExtension.critical
        else { throw Rejection(.wrongPurpose, "Apple's extension \(marker) is critical in `\(x509.subject)`") }
    }

    /// Checks that this is a certificate of version 3 without unknown critical extensions (RFC 5280, section 4.2).
    private func checkVersionAndCriticalExtensions() throws(Rejection) {
        try check(x509.version == .v3, .untrustedChain, "isn't an X.509 certificate of version 3")
        // Apple's markers are checked separately, with their own message.
        let known: [ASN1ObjectIdentifier] = [
            .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage, AppleMarker.receiptSigner,
            AppleMarker.developerRelations,
        ]
        for criticalExtension in x509.extensions where criticalExtension.critical {
            let oid = criticalExtension.oid
            try check(known.contains(oid), .untrustedChain, "has an unknown critical extension, \(oid)")
        }
    }

    /// Throws a rejection unless the condition holds. In the message, `problem` follows the certificate's name.
    private func check(
        _ condition: Bool, _ code: Rejection.Code, _ problem: @autoclosure () -> String
    ) throws(Rejection) {
        guard condition else { throw Rejection(code, "`\(x509.subject)` \(problem())") }
    }

    private func basicConstraints() throws(Rejection) -> BasicConstraints? {
        try read("basic constraints") { try x509.extensions.basicConstraints }
    }

    private func keyUsage() throws(Rejection) -> KeyUsage? { try read("key usage") { try x509.extensions.keyUsage } }

    private func authorityKeyIdentifier() throws(Rejection) -> ArraySlice<UInt8>? {
        try read("authority key identifier") { try x509.extensions.authorityKeyIdentifier?.keyIdentifier }
    }

    private func subjectKeyIdentifier() throws(Rejection) -> ArraySlice<UInt8>? {
        try read("subject key identifier") { try x509.extensions.subjectKeyIdentifier?.keyIdentifier }
    }

    /// Reads an extension. If it can't be read, throws `malformed` with the extension's name.
    private func read<Value>(_ name: String, _ value: () throws -> Value) throws(Rejection) -> Value {
        do {
            return try value()
        } catch {
            throw Rejection(.malformed, "the \(name) of `\(x509.subject)` can't be read")
        }
    }

    /// Returns the signer's key: P-256 for JWS (`ES256`), RSA for receipts.
    func signingKey(for purpose: ChainPurpose) throws(Rejection) -> TrustedChain.Key {
        switch purpose {
        case .jws:
            guard let key = P256.Signing.PublicKey(x509.publicKey) else {
                throw Rejection(.unsupportedAlgorithm, "a JWS is signed with a P-256 key, not with another kind of key")
            }
            return .p256(key)
        case .receipt:
            guard let key = _RSA.Signing.PublicKey(x509.publicKey) else {
                throw Rejection(
                    .unsupportedAlgorithm, "a receipt is signed with an RSA key, not with another kind of key")
            }
            return .rsa(key)
        }
    }
}

/// The non-critical extensions with which Apple marks the purpose of a certificate. The value of such an extension is
/// ignored: it is NULL in genuine certificates, and an empty string in Apple's fixtures.
package enum AppleMarker {
    /// Marks certificates that sign App Store data: receipts and JWS.
    package static let receiptSigner: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
    /// Marks the intermediates of Apple Worldwide Developer Relations, which issue the signers' certificates.
    package static let developerRelations: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]
}
