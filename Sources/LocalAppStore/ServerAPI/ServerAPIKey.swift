package import Crypto
import Foundation
import TenureCore
import TenureMint

/// An In-App Purchase key, like those of App Store Connect. A developer's server signs its tokens with it.
package struct ServerAPIKey: Sendable {
    package let issuerID: String
    /// Ten letters and digits.
    package let keyID: String
    package let privateKey: P256.Signing.PrivateKey

    /// The store's key; the same for the same seed.
    package init(seed: String) throws {
        let ids = StoreIDs(seed: seed, environment: .production)
        issuerID = ids.uuid("issuer").uuidString.lowercased()
        keyID = String(ids.uuid("key").uuidString.filter { $0 != "-" }.prefix(10))
        for attempt in 0..<16 {
            let bytes = SHA256.hash(data: Array("server api key \(attempt) \(seed)".utf8))
            if let key = try? P256.Signing.PrivateKey(rawRepresentation: Array(bytes)) {
                privateKey = key
                return
            }
        }
        throw MintingError("no key can be made from this seed; use another one")
    }

    /// PKCS#8 in PEM, as App Store Connect's `.p8` files.
    package var pem: String { privateKey.pemRepresentation }
}
