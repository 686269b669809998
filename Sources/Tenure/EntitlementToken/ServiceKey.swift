package import Foundation
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

/// A public key with its ID.
struct VerifyingKey: Sendable {
    let id: String
    let verifier: P256.Signing.PublicKey

    init?(_ key: Tenure.ServiceKey) {
        guard let verifier = key.verifier else { return nil }
        id = key.id
        self.verifier = verifier
    }

    /// Whether this key signed the text as a text of this type, which is one of `SignedType`.
    func hasSigned(_ text: SignedText, as type: String) -> Bool {
        text.hasHeader(type: type, keyID: id) && text.isSigned(by: verifier)
    }
}

/// A text in the form of a signed JSON Web Signature (compact JWS), not yet verified. Don't use its payload before
/// `isSigned(by:)` has returned true.
struct SignedText {
    let payload: [UInt8]
    private let headerBytes: [UInt8]
    /// The bytes that the signature covers: header and payload, as encoded in the text.
    private let signed: ArraySlice<UInt8>
    private let signature: [UInt8]

    /// The maximum size in bytes. No entitlement token is larger.
    static let maximumSize = 64 * 1024

    /// Splits a string into its parts. Nil if it isn't a compact JWS, or has more bytes than `maximumSize`.
    init?(_ text: String, maximumSize: Int = Self.maximumSize) {
        guard text.utf8.count <= maximumSize else { return nil }
        let bytes = Array(text.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64.urlSafe.decode(parts[0]),
            let payload = Base64.urlSafe.decode(parts[1]), let signature = Base64.urlSafe.decode(parts[2]),
            signature.count == 64
        else { return nil }
        headerBytes = header
        self.payload = payload
        self.signature = signature
        signed = bytes[..<parts[1].endIndex]
    }

    /// Whether the header is exactly the header that a service writes for this type and key. No field is read from the
    /// header, so an attacker can't choose the algorithm or the key with it.
    func hasHeader(type: String, keyID: String) -> Bool {
        headerBytes
            == JSONWriter.object { json in
                json.field("alg", "ES256")
                json.field("kid", keyID)
                json.field("typ", type)
            }
    }

    /// Whether this key signed the header and the payload.
    func isSigned(by key: P256.Signing.PublicKey) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
        return key.isValidSignature(signature, for: signed)
    }
}

extension UUID {
    /// The device ID in entitlement tokens: SHA-256 of the lowercase UUID, in base64url without padding.
    package var hashed: String { uuidString.lowercased().hashed }
}

extension String {
    /// SHA-256 of the UTF-8 bytes, in base64url without padding.
    var hashed: String { Base64.urlSafe.text(SHA256.hash(data: Data(utf8))) }
}
