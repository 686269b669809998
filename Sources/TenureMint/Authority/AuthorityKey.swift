package import Crypto
package import CryptoExtras
package import X509

/// A private key of a test authority.
package enum AuthorityKey: Sendable {
    case p256(P256.Signing.PrivateKey)
    case p384(P384.Signing.PrivateKey)
    case rsa(_RSA.Signing.PrivateKey)

    /// The public key for certificates.
    package var publicKey: Certificate.PublicKey { x509.publicKey }

    /// The same key in the type with which certificates are signed.
    var x509: Certificate.PrivateKey {
        switch self {
        case .p256(let key): Certificate.PrivateKey(key)
        case .p384(let key): Certificate.PrivateKey(key)
        case .rsa(let key): Certificate.PrivateKey(key)
        }
    }

    /// The private key in PEM.
    package var pem: String {
        switch self {
        case .p256(let key): key.pemRepresentation
        case .p384(let key): key.pemRepresentation
        case .rsa(let key): key.pemRepresentation
        }
    }

    /// Reads a private key in PEM. Throws if the text isn't a P-256, P-384 or RSA key.
    init(pem: String) throws(MintingError) {
        guard
            let key = (try? P256.Signing.PrivateKey(pemRepresentation: pem)).map(AuthorityKey.p256)
                ?? (try? P384.Signing.PrivateKey(pemRepresentation: pem)).map(AuthorityKey.p384)
                ?? (try? _RSA.Signing.PrivateKey(pemRepresentation: pem)).map(AuthorityKey.rsa)
        else { throw MintingError("its key isn't a private key in PEM of a supported kind (P-256, P-384, RSA)") }
        self = key
    }
}
