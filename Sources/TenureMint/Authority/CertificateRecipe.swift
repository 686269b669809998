import Crypto
import Foundation
import SwiftASN1
package import TenureAppStore
package import X509

/// The contents of a certificate of a test authority. Every part can be set wrongly on purpose.
package struct CertificateRecipe: Sendable {
    var commonName: String
    var organization: String
    var notBefore: Date
    var notAfter: Date
    /// The basic constraints; nil to leave out the extension.
    package var basicConstraints: BasicConstraints?
    /// Whether the certificate's key may sign certificates. Otherwise it may sign data.
    package var signsCertificates: Bool
    /// The extensions with which Apple marks a certificate's purpose (`AppleMarker`). Their value is NULL, as in
    /// Apple's certificates.
    var markers: [ASN1ObjectIdentifier] = []
    /// Whether the markers are critical extensions. Apple's markers aren't.
    var markersAreCritical = false
    var hasUnknownCriticalExtension = false
    /// The algorithm of the issuer's signature; nil for the usual algorithm of the issuer's key.
    var signatureAlgorithm: Certificate.SignatureAlgorithm?
    var serialNumber: [UInt8]

    /// Issues a certificate for a key.
    ///
    /// - Parameter issuer: the certificate that signs the new certificate; nil for a self-signed certificate.
    package func issue(for key: AuthorityKey, by issuer: IssuedCertificate?) throws -> IssuedCertificate {
        let subject = try DistinguishedName {
            CountryName("US")
            OrganizationName(organization)
            CommonName(commonName)
        }
        let signer = issuer?.key ?? key
        let x509 = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(bytes: serialNumber[...]), publicKey: key.publicKey,
            notValidBefore: notBefore, notValidAfter: notAfter,
            issuer: issuer.map(\.certificate.x509.subject) ?? subject, subject: subject,
            signatureAlgorithm: signatureAlgorithm ?? signer.x509.certificateAlgorithm,
            extensions: extensions(key: key.publicKey, issuerKey: issuer.map(\.key.publicKey)),
            issuerPrivateKey: signer.x509)
        var serializer = DER.Serializer()
        try serializer.serialize(x509)
        return IssuedCertificate(certificate: try ParsedCertificate(der: serializer.serializedBytes), key: key)
    }

    /// Returns the extensions that Apple's server libraries require. The Python library is the strictest.
    private func extensions(
        key: Certificate.PublicKey,
        issuerKey: Certificate.PublicKey?
    ) throws -> Certificate.Extensions {
        var extensions = Certificate.Extensions()
        if let basicConstraints { try extensions.append(Certificate.Extension(basicConstraints, critical: true)) }
        let usage = signsCertificates ? KeyUsage(keyCertSign: true, cRLSign: true) : KeyUsage(digitalSignature: true)
        try extensions.append(Certificate.Extension(usage, critical: true))
        try extensions.append(Certificate.Extension(SubjectKeyIdentifier(hash: key), critical: false))
        if let issuerKey {
            let identifier = SubjectKeyIdentifier(hash: issuerKey).keyIdentifier
            try extensions.append(
                Certificate.Extension(AuthorityKeyIdentifier(keyIdentifier: identifier), critical: false))
        }
        for marker in markers {
            try extensions.append(
                Certificate.Extension(oid: marker, critical: markersAreCritical, value: [0x05, 0x00]))
        }
        if hasUnknownCriticalExtension {
            try extensions.append(
                Certificate.Extension(oid: [1, 3, 6, 1, 4, 1, 99999, 1], critical: true, value: [0x05, 0x00]))
        }
        return extensions
    }
}

/// A certificate and its private key.
package struct IssuedCertificate: Sendable {
    package let certificate: ParsedCertificate
    package let key: AuthorityKey

    package var der: [UInt8] { certificate.der }
}

extension Certificate.PrivateKey {
    /// The usual algorithm for certificates that this key signs.
    fileprivate var certificateAlgorithm: Certificate.SignatureAlgorithm {
        switch publicKey {
        case let key where P256.Signing.PublicKey(key) != nil: .ecdsaWithSHA256
        case let key where P384.Signing.PublicKey(key) != nil: .ecdsaWithSHA384
        default: .sha256WithRSAEncryption
        }
    }
}
