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

    /// The key that made a trusted signature, and until when that key may sign.
    struct Trust: Sendable, Hashable {
        let keyID: String
        /// The end of the key's signing period; nil if it has no end.
        var signUntil: Date?
    }

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
        if let key = pinnedKeys.first(where: { $0.hasSigned(token, as: type) }) { return Trust(keyID: key.id) }
        guard let key = newestKey(in: statements), key.hasSigned(token, as: type) else { return nil }
        return Trust(keyID: key.id)
    }

    /// Returns the key that signed a token, and until when that key may sign. Nil unless the offline root vouches for
    /// the key.
    private func trustByRoot(in token: SignedText, with statements: [String]) -> Trust? {
        for statement in statements.prefix(SigningKeyBounds.maximumChainLength) {
            guard let root, let text = SignedText(statement, maximumSize: SigningKeyBounds.maximumStatementSize),
                root.hasSigned(text, as: SignedType.rootStatement), let rootStatement = RootStatement(text),
                rootStatement.key.hasSigned(token, as: SignedType.entitlementToken)
            else { continue }
            return Trust(keyID: rootStatement.key.id, signUntil: rootStatement.signUntil)
        }
        return nil
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
            let signers = newest.map { [$0] } ?? []
            // Ignore statements before the first statement that a pinned key signed. At a later statement by a pinned
            // key, begin again with the key for which it vouches.
            guard (signers + pinnedKeys).contains(where: { $0.hasSigned(text, as: SignedType.keyStatement) }),
                let fields = try? JSONDecoder().decode(JSONWebKey.self, from: Data(text.payload)),
                let next = Self.key(fields)
            else { continue }
            newest = next
        }
        return newest
    }

    private static func key(_ fields: JSONWebKey) -> Key? { (try? Tenure.ServiceKey(fields)).flatMap(Key.init) }

    /// The root's statement about a signing key. Create a value only after verifying the statement's signature.
    private struct RootStatement {
        let key: Key
        let signUntil: Date

        private struct Fields: Decodable {
            let key: JSONWebKey
            let signUntil: Int64
        }

        init?(_ text: SignedText) {
            guard let fields = try? JSONDecoder().decode(Fields.self, from: Data(text.payload)),
                let key = KeyRing.key(fields.key)
            else { return nil }
            self.key = key
            signUntil = Date(timeIntervalSince1970: TimeInterval(fields.signUntil))
        }
    }

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
