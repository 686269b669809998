package import Crypto
import Foundation
import TenureCore
import TenureMint

/// An In-App Purchase key, as App Store Connect gives them: with it a developer's server signs its tokens.
package struct ServerAPIKey: Sendable {
    package let issuerID: String
    /// Ten letters and digits.
    package let keyID: String
    package let privateKey: P256.Signing.PrivateKey

    /// The key of a world; the same for the same seed.
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
        throw MintingError("no key comes out of this seed; take another one")
    }

    /// PKCS#8 in PEM: what App Store Connect gives as a `.p8` file.
    package var pem: String { privateKey.pemRepresentation }
}
