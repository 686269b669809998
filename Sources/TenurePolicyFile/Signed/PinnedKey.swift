import Foundation
import TenureCore
import TenureJSON

#if canImport(CryptoKit)
    package import CryptoKit
#else
    package import Crypto
#endif

/// A P-256 public key that an app pins, as `tenure policy signing-key` prints it: 86 characters of URL-safe Base64
/// without padding, which encode the two coordinates of 32 bytes each.
package struct PinnedKey: Sendable {
    package let publicKey: P256.Signing.PublicKey

    package init(_ publicKey: P256.Signing.PublicKey) {
        self.publicKey = publicKey
    }

    /// Reads a key in this format, or as a JSON Web Key (RFC 7517); nil for any other text.
    package init?(_ text: String) {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let coordinates: [UInt8]
        if trimmed.hasPrefix("{") {
            guard trimmed.utf8.count <= 4096,
                let key = try? JSONDecoder().decode(WebKey.self, from: Data(trimmed.utf8)),
                key.kty == "EC", key.crv == "P-256", let x = Base64.urlSafe.decode(key.x),
                let y = Base64.urlSafe.decode(key.y), x.count == 32, y.count == 32
            else { return nil }
            coordinates = x + y
        } else {
            guard trimmed.utf8.count == 86, let bytes = Base64.urlSafe.decode(trimmed) else { return nil }
            coordinates = bytes
        }
        // CryptoKit checks that the coordinates are a point on the curve.
        guard let key = try? P256.Signing.PublicKey(rawRepresentation: coordinates) else { return nil }
        publicKey = key
    }

    /// The key as `tenure policy signing-key` prints it.
    package var text: String { Base64.urlSafe.text(publicKey.rawRepresentation) }

    /// The fields of a JSON Web Key with an elliptic curve (RFC 7518, section 6.2).
    private struct WebKey: Decodable {
        let kty: String
        let crv: String
        let x: String
        let y: String
    }
}
