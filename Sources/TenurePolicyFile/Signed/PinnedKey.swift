import Foundation
import TenureJSON

#if canImport(CryptoKit)
    package import CryptoKit
#else
    package import Crypto
#endif

/// A P-256 public key that an app pins: the app accepts only policies and catalogs that are signed with the matching
/// private key. `tenure policy signing-key` prints it as 86 characters of URL-safe Base64 without padding, which encode
/// the two coordinates of 32 bytes each.
package struct PinnedKey: Sendable {
    package let publicKey: P256.Signing.PublicKey

    package init(_ publicKey: P256.Signing.PublicKey) { self.publicKey = publicKey }

    /// Reads a key as `tenure policy signing-key` prints it, or as a JSON Web Key (RFC 7517); nil for any other text.
    package init?(_ text: String) {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let coordinates: [UInt8]
        if trimmed.hasPrefix("{") {
            guard trimmed.utf8.count <= 4096,
                let key = try? JSONDecoder().decode(JSONWebKey.self, from: Data(trimmed.utf8)),
                let bytes = key.coordinates
            else { return nil }
            coordinates = bytes
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
}
