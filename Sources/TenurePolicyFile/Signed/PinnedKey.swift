import Foundation
import TenureCore
import TenureJSON

#if canImport(CryptoKit)
    package import CryptoKit
#else
    package import Crypto
#endif

/// The public half of a P-256 key, as in an app's source: 86 characters, Base64 (URL-safe, without padding) of both
/// coordinates, 32 bytes each. `tenure policy signing-key` prints it.
package struct PinnedKey: Sendable {
    package let publicKey: P256.Signing.PublicKey

    package init(_ publicKey: P256.Signing.PublicKey) {
        self.publicKey = publicKey
    }

    /// Also reads the same key as a JSON Web Key (RFC 7517), as the service shows its own. Nil for anything else.
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
        // CryptoKit checks that they are a point of the curve.
        guard let key = try? P256.Signing.PublicKey(rawRepresentation: coordinates) else { return nil }
        publicKey = key
    }

    package var text: String { Base64.urlSafe.text(publicKey.rawRepresentation) }

    private struct WebKey: Decodable {
        let kty: String
        let crv: String
        let x: String
        let y: String
    }
}
