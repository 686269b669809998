import Foundation
import TenureAPI
import TenureJSON

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// The keys that this app trusts: the pinned keys, which were set when the app was built, and keys that a pinned key
/// vouches for in a signed statement.
///
/// An app pins signing keys or the offline root. A signing key vouches for the next one. The root vouches for keys that
/// may sign for a limited period, and revokes keys. Any other key is rejected, even if it comes from the service's
/// address.
struct KeyRing: Sendable {
    /// The pinned signing keys. Empty if the app pins the offline root.
    private let pinnedKeys: [Key]
    /// The offline root. Nil if the app pins signing keys.
    private let root: Key?

    /// A public key with its ID.
    private struct Key: Sendable {
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

    /// The key that made a trusted signature, and the end of the key's signing period; nil if it has no end.
    typealias Trust = (keyID: String, signUntil: Date?)

    /// - Parameter root: the offline root. If it isn't nil, it is trusted instead of the keys.
    init(_ keys: [Tenure.ServiceKey], root: Tenure.ServiceKey? = nil) {
        self.root = root.flatMap(Key.init)
        pinnedKeys = root == nil ? keys.compactMap(Key.init) : []
    }

    /// Returns the key that signed an entitlement token, and until when that key may sign. Nil if the key isn't
    /// trusted.
    ///
    /// - Parameter statements: signed statements, oldest first, in which a trusted key may vouch for the signing key.
    func trust(in token: SignedText, with statements: [String]) -> Trust? {
        let type = SignedType.entitlementToken
        guard root == nil else { return trustByRoot(in: token, with: statements) }
        if let key = pinnedKeys.first(where: { $0.hasSigned(token, as: type) }) { return (key.id, nil) }
        guard let key = newestKey(in: statements), key.hasSigned(token, as: type) else { return nil }
        return (key.id, nil)
    }

    /// Returns the key that signed a token, and until when that key may sign. Nil unless the offline root vouches for
    /// the key.
    private func trustByRoot(in token: SignedText, with statements: [String]) -> Trust? {
        for statement in statements.prefix(SigningKeyBounds.maximumChainLength) {
            guard let root, let text = SignedText(statement, maximumSize: SigningKeyBounds.maximumStatementSize),
                root.hasSigned(text, as: SignedType.rootStatement),
                let fields = try? JSONDecoder().decode(RootStatement.self, from: Data(text.payload)),
                let key = Self.key(fields.key), key.hasSigned(token, as: SignedType.entitlementToken)
            else { continue }
            return (key.id, Date(timeIntervalSince1970: TimeInterval(fields.signUntil)))
        }
        return nil
    }

    /// The payload of the root's statement about a signing key.
    private struct RootStatement: Decodable {
        let key: JSONWebKey
        let signUntil: Int64
    }

    /// Returns the statements that a device stores with a token. Drops statements beyond the number and size that a
    /// service sends.
    static func statementsToStore(of statements: [String]) -> [String] {
        statements.prefix(SigningKeyBounds.maximumChainLength).filter {
            $0.utf8.count <= SigningKeyBounds.maximumStatementSize
        }
    }

    /// Follows the statements from a pinned key to the newest key: a pinned key vouches for the second key, which
    /// vouches for the third. Nil if no pinned key signed a statement.
    private func newestKey(in statements: [String]) -> Key? {
        var newest: Key?
        for statement in statements.prefix(SigningKeyBounds.maximumChainLength) {
            guard let text = SignedText(statement, maximumSize: SigningKeyBounds.maximumStatementSize) else { continue }
            let signers = [newest].compactMap(\.self) + pinnedKeys
            // Ignore statements before the first statement that a pinned key signed. At a later statement by a pinned
            // key, begin again with the key for which it vouches.
            guard signers.contains(where: { $0.hasSigned(text, as: SignedType.keyStatement) }),
                let fields = try? JSONDecoder().decode(JSONWebKey.self, from: Data(text.payload)),
                let next = Self.key(fields)
            else { continue }
            newest = next
        }
        return newest
    }

    private static func key(_ fields: JSONWebKey) -> Key? { (try? Tenure.ServiceKey(fields)).flatMap(Key.init) }

    /// Returns the root's list of revoked keys. Nil if the root didn't sign the text.
    func revocations(in text: String) -> KeyRevocations? {
        struct Fields: Decodable {
            let counter: Int64
            let revoked: [String]
        }
        guard let root, let text = SignedText(text, maximumSize: SigningKeyBounds.maximumRevocationsSize),
            root.hasSigned(text, as: SignedType.revocations),
            let fields = try? JSONDecoder().decode(Fields.self, from: Data(text.payload)), fields.counter > 0,
            fields.revoked.count <= SigningKeyBounds.maximumRevocations
        else { return nil }
        return KeyRevocations(root: root.id, counter: fields.counter, keys: Set(fields.revoked))
    }

    /// Whether the root that this app pins has revoked the key.
    func isRevoked(_ keyID: String, by revocations: KeyRevocations?) -> Bool {
        guard let root, let revocations, revocations.root == root.id else { return false }
        return revocations.keys.contains(keyID)
    }
}

/// The keys that an offline root has revoked, as the device stores them.
struct KeyRevocations: Sendable, Hashable, Codable {
    /// The key ID of the root. A root's list can't revoke keys of another root.
    let root: String
    /// A list with a higher counter replaces a list with a lower counter.
    let counter: Int64
    let keys: Set<String>

    /// Returns the newer of two lists. If they are from different roots, returns `self`.
    func merging(_ other: KeyRevocations?) -> KeyRevocations {
        guard let other, other.root == root, other.counter > counter else { return self }
        return other
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
