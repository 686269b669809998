import Foundation
import TenureAPI
import TenureJSON

/// The keys that this app trusts: the pinned keys, which were set when the app was built, and keys that a pinned key
/// vouches for in a signed statement.
///
/// An app pins signing keys or the offline root. A signing key vouches for the next one. The root vouches for keys that
/// may sign for a limited period, and revokes keys. Any other key is rejected, even if it comes from the service's
/// address.
struct KeyRing: Sendable {
    /// The pinned signing keys. Empty if the app pins the offline root.
    private let pinnedKeys: [VerifyingKey]
    /// The offline root. Nil if the app pins signing keys.
    private let root: VerifyingKey?

    /// The key that made a trusted signature, and the end of the key's signing period; nil if it has no end.
    typealias Trust = (keyID: String, signUntil: Date?)

    /// - Parameter root: the offline root. If it isn't nil, it is trusted instead of the keys.
    init(_ keys: [Tenure.ServiceKey], root: Tenure.ServiceKey? = nil) {
        self.root = root.flatMap(VerifyingKey.init)
        pinnedKeys = root == nil ? keys.compactMap(VerifyingKey.init) : []
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

    /// The payload of the root's statement about a signing key. Decode it only after verifying the statement's
    /// signature.
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
    private func newestKey(in statements: [String]) -> VerifyingKey? {
        var newest: VerifyingKey?
        for statement in statements.prefix(SigningKeyBounds.maximumChainLength) {
            guard let text = SignedText(statement, maximumSize: SigningKeyBounds.maximumStatementSize) else { continue }
            let signers = [newest].compactMap(\.self) + pinnedKeys
            // Ignore statements by other keys, such as by a predecessor of the pinned keys.
            guard signers.contains(where: { $0.hasSigned(text, as: SignedType.keyStatement) }),
                let fields = try? JSONDecoder().decode(JSONWebKey.self, from: Data(text.payload)),
                let next = Self.key(fields)
            else { continue }
            newest = next
        }
        return newest
    }

    private static func key(_ fields: JSONWebKey) -> VerifyingKey? {
        (try? Tenure.ServiceKey(fields)).flatMap(VerifyingKey.init)
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
    /// The counter of the newest list. Each newer list of a root has a higher counter.
    let counter: Int64
    /// The IDs of all keys in any list that the device received.
    let keys: Set<String>

    /// Returns the keys of both lists, with the higher counter. A revoked key stays revoked if a newer list lacks it:
    /// the root may have signed that list with an older copy of its file. If the lists are from different roots,
    /// returns `self`.
    func merging(_ other: KeyRevocations?) -> KeyRevocations {
        guard let other, other.root == root else { return self }
        return KeyRevocations(root: root, counter: max(counter, other.counter), keys: keys.union(other.keys))
    }
}
