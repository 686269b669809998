import Crypto
import Foundation
import TenureAPI
import TenureCore
import TenureJSON

/// A P-256 public key as a JSON Web Key (RFC 7517). Members that a key set adds, such as `kid`, are ignored.
struct JSONWebKey: Codable, Hashable, Sendable {
    let crv: String
    let kty: String
    let x: String
    let y: String

    init(_ key: P256.Signing.PublicKey) {
        (crv, kty) = ("P-256", "EC")
        x = Base64.urlSafe.text(key.rawRepresentation.prefix(32))
        y = Base64.urlSafe.text(key.rawRepresentation.suffix(32))
    }

    /// The key; nil if these aren't the coordinates of a P-256 key.
    var publicKey: P256.Signing.PublicKey? {
        guard kty == "EC", crv == "P-256", let x = Base64.urlSafe.decode(x), x.count == 32,
            let y = Base64.urlSafe.decode(y), y.count == 32
        else { return nil }
        return try? P256.Signing.PublicKey(rawRepresentation: x + y)
    }

    /// The JSON of the required members only, in the order of their names (RFC 7638, section 3.2).
    var bytes: [UInt8] { JSONWriter.object { write(into: &$0) } }

    /// Writes the required members.
    func write(into json: inout JSONWriter) {
        json.field("crv", crv)
        json.field("kty", kty)
        json.field("x", x)
        json.field("y", y)
    }

    /// The key ID in a JWS: the thumbprint of RFC 7638.
    var id: String { Base64.urlSafe.text(SHA256.hash(data: bytes)) }
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
