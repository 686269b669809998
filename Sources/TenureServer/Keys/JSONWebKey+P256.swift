import Crypto
import TenureJSON

/// Converts P-256 public keys to JSON Web Keys and back, and computes their key IDs.
extension JSONWebKey {
    init(_ key: P256.Signing.PublicKey) { self.init(coordinates: key.rawRepresentation) }

    /// The key; nil if these aren't the coordinates of a P-256 key.
    var publicKey: P256.Signing.PublicKey? {
        coordinates.flatMap { try? P256.Signing.PublicKey(rawRepresentation: $0) }
    }

    /// The key ID in a JWS: the thumbprint of RFC 7638.
    var id: String { Base64.urlSafe.text(SHA256.hash(data: bytes)) }

    /// The key as JSON, as commands print it.
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension P256.Signing.PublicKey {
    /// The key ID in a JWS: the thumbprint of RFC 7638.
    var id: String { JSONWebKey(self).id }
}

extension P256.Signing.PrivateKey {
    /// Creates a key with an ID that doesn't begin with a hyphen, which commands would read as an option.
    static func newSigningKey() -> Self {
        while true {
            let key = Self()
            if !key.publicKey.id.hasPrefix("-") { return key }
        }
    }
}
