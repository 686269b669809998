import Foundation
import TenureJSON

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

extension Tenure {
    /// A public key that the app trusts: the key with which the service signs entitlement tokens, or the offline root,
    /// which signs that key.
    ///
    /// Add the key to the app when you build the app. An app that fetched the key from the service would trust any
    /// server that answers at the service's address.
    public struct ServiceKey: Sendable, Hashable {
        /// The coordinates x and y of the key's point on the curve P-256, 32 bytes each.
        let coordinates: Data

        /// Reads a key as `tenure signing-key list` prints it (a JSON Web Key), from a set with one key, or in PEM.
        ///
        /// - Throws: `Error.key` if the text isn't a P-256 key.
        public init(_ text: String) throws(Tenure.Error) {
            let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
            if text.hasPrefix("-----") {
                guard let key = try? P256.Signing.PublicKey(pemRepresentation: text) else {
                    throw .key("it isn't a P-256 key in PEM")
                }
                self.init(coordinates: key.rawRepresentation)
                return
            }
            let decoder = JSONDecoder()
            if let set = try? decoder.decode(JSONWebKeySet.self, from: Data(text.utf8)) {
                guard let key = set.keys.first, set.keys.count == 1 else {
                    throw .key("the set has \(set.keys.count) keys; pin one of them")
                }
                try self.init(key)
            } else if let key = try? decoder.decode(JSONWebKey.self, from: Data(text.utf8)) {
                try self.init(key)
            } else {
                throw .key("it is neither JSON with `kty`, `crv`, `x` and `y` nor PEM")
            }
        }

        private init(coordinates: Data) { self.coordinates = coordinates }

        init(_ key: JSONWebKey) throws(Tenure.Error) {
            guard let coordinates = key.coordinates else { throw .key("it isn't a P-256 key") }
            self.init(coordinates: Data(coordinates))
            guard verifier != nil else { throw .key("its point isn't on the curve") }
        }

        /// The key ID in entitlement tokens: the thumbprint of RFC 7638.
        package var id: String { Base64.urlSafe.text(SHA256.hash(data: JSONWebKey(coordinates: coordinates).bytes)) }

        /// The key as a value that verifies signatures. Nil if the point isn't on the curve.
        var verifier: P256.Signing.PublicKey? { try? P256.Signing.PublicKey(rawRepresentation: coordinates) }
    }
}

private struct JSONWebKeySet: Decodable { let keys: [JSONWebKey] }
