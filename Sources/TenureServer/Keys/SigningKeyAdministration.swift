package import Foundation
import TenureJSON

/// The operations on a service's signing keys for `tenure signing-key`. Apps pin these keys: each build contains a
/// public key that it trusts. Each operation replaces the whole key file, or leaves it unchanged.
package struct SigningKeyAdministration: Sendable {
    private let store: SigningKeyStore

    package init(folder: String) { store = SigningKeyStore(folder: folder) }

    /// The signing keys of a service, for `tenure signing-key list`.
    package struct Summary: Sendable {
        /// One signing key.
        package struct Key: Sendable, Hashable {
            package let id: String
            package let createdAt: Date
            package let retiredAt: Date?
            package let revokedAt: Date?
            /// Whether apps that pinned this key trust the key in use, because of a chain of statements: each key in
            /// the chain vouches for the next key, up to the key in use.
            package let isInChain: Bool
        }

        /// The keys, oldest first. The last key is in use.
        package let keys: [Key]
        package let period: SigningPeriod
        /// The public half of the key in use, as a JSON Web Key in JSON, like `waiting` and `root`.
        package let inUse: String
        /// The public half of the next key, which waits until the offline root signs it; nil if no key waits.
        package let waiting: String?
        /// The offline root's public key; nil if there is no offline root.
        package let root: String?
    }

    /// Reads the keys. Changes nothing.
    package func summary() throws -> Summary {
        let keys = try store.read()
        let file = keys.file
        var waiting: String?
        if file.next != nil {
            // `prepareNextKey` returns the key that waits already.
            var copy = file
            waiting = try copy.prepareNextKey(at: Date()).text
        }
        return Summary(
            keys: file.keys.enumerated().map { place, key in
                Summary.Key(
                    id: key.key.id, createdAt: Date(seconds: key.createdAt),
                    retiredAt: key.retiredAt.map(Date.init(seconds:)),
                    revokedAt: key.revokedAt.map(Date.init(seconds:)), isInChain: place >= file.chainStart)
            },
            period: keys.period, inUse: file.keys.last?.key.text ?? "", waiting: waiting, root: file.root?.text)
    }

    /// The result of a rotation.
    package enum Rotation: Sendable, Hashable {
        /// A new key is in use.
        case rotated(id: String, publicKey: String)
        /// A new key waits until the offline root signs it.
        case waiting(publicKey: String)
    }

    /// Replaces the key in use. With an offline root, only creates the next key, which the root must sign first.
    ///
    /// - Parameter droppingOldest: Whether apps that pinned only the oldest key of the chain may lose trust, if the
    ///   chain already has its maximum length.
    package func rotate(droppingOldest: Bool = false, at now: Date) throws -> Rotation {
        try store.update { file in
            guard file.root == nil else { return .waiting(publicKey: try file.prepareNextKey(at: now).text) }
            try file.rotate(at: now, droppingOldest: droppingOldest)
            guard let key = file.keys.last?.key else { throw SigningKeyError.cannotSign }
            return .rotated(id: key.id, publicKey: key.text)
        }
    }

    /// Revokes a key. Returns the IDs of the keys from which no chain of statements leads to the key in use anymore.
    /// Apps that pinned only these keys trust no new token until they are updated.
    package func revoke(_ id: String, at now: Date) throws -> [String] {
        try store.update { try $0.revoke(id, at: now) }
    }

    /// The result of installing a statement of the offline root.
    package enum Installation: Sendable, Hashable {
        /// The key in use may sign until this date.
        case period(until: Date)
        /// The waiting key replaced the key in use, and may sign until this date.
        case rotated(until: Date)
        /// The keys with these IDs were revoked. Apps that pinned only keys in `stranded` no longer trust any signing
        /// key.
        case revoked([String], stranded: [String])
    }

    /// Installs a statement that the offline root signed: how long a key may sign, or which keys are revoked.
    ///
    /// - Parameters:
    ///   - root: The offline root's public key as a JSON Web Key, for the root's first statement and to change the
    ///     root; otherwise nil.
    ///   - droppingOldest: As for `rotate`, because the statement may put the waiting key into use.
    ///   - replacingRoot: Whether `root` may replace another root, which apps have pinned.
    package func install(
        _ statement: String, ofRoot root: String? = nil, droppingOldest: Bool = false, replacingRoot: Bool = false,
        at now: Date
    ) throws -> Installation {
        let newRoot = try root.map { text in
            guard let key = try? JSONDecoder().decode(JSONWebKey.self, from: Data(text.utf8)) else {
                throw SigningKeyError.notAKey
            }
            return key
        }
        return try store.update {
            try $0.install(
                statement, ofRoot: newRoot, at: now, droppingOldest: droppingOldest, replacingRoot: replacingRoot)
        }
    }
}
