package import Crypto
import Foundation
import TenureCore
import TenureMint

/// An In-App Purchase key, as from App Store Connect. With this key, a developer's server signs its requests to the App
/// Store Server API.
package struct ServerAPIKey: Sendable {
    /// The issuer ID: a UUID.
    package let issuerID: String
    /// The key ID: ten letters and digits.
    package let keyID: String
    package let privateKey: P256.Signing.PrivateKey

    /// Creates the key of the local App Store with this seed. The same seed always gives the same key.
    package init(seed: String) throws {
        let ids = AppStoreIDs(seed: seed, environment: .production)
        issuerID = ids.uuid("issuer").uuidString.lowercased()
        keyID = String(ids.uuid("key").uuidString.filter { $0 != "-" }.prefix(10))
        // Almost every digest is a valid private key. If one isn't, try the next.
        for attempt in 0..<16 {
            let bytes = SHA256.hash(data: Array("server api key \(attempt) \(seed)".utf8))
            if let key = try? P256.Signing.PrivateKey(rawRepresentation: Array(bytes)) {
                privateKey = key
                return
            }
        }
        throw MintingError("no key can be derived from the seed `\(seed)`; use another seed")
    }

    /// The private key in PKCS#8 and PEM, as in a `.p8` file from App Store Connect.
    package var pem: String { privateKey.pemRepresentation }
}
