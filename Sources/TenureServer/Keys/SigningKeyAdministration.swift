package import Foundation
import TenureAPI
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

        /// The keys, oldest first. The last key is in use, unless it is revoked.
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

/// How long the key in use may sign, according to the offline root's statement.
package enum SigningPeriod: Sendable, Hashable {
    /// There is no offline root.
    case unlimited
    case until(Date)
    /// There is an offline root, but the root hasn't signed this key.
    case notSigned
    /// Another process that uses the same database has a newer key, so this key signs nothing anymore.
    case outdated

    func contains(_ now: Date) -> Bool {
        switch self {
        case .unlimited: true
        case .until(let end): now < end
        case .notSigned, .outdated: false
        }
    }
}

extension JSONWebKey {
    /// The key as JSON, as commands print it.
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension Date {
    init(seconds: Int64) { self.init(timeIntervalSince1970: TimeInterval(seconds)) }
}

/// The reason why an operation didn't change the signing keys.
enum SigningKeyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The chain, in which each key vouches for the next key, has its maximum length. After another rotation, apps that
    /// pinned only its oldest key, with the ID `oldest`, would trust no signing key.
    case chainTooLong(oldest: String)
    /// The service doesn't have a signing key with this ID.
    case unknownKey(String)
    /// The key with this ID was revoked before.
    case alreadyRevoked(String)
    /// The key with this ID is revoked, so it can't be signed or installed.
    case revokedKey(String)
    /// The text isn't a P-256 public key.
    case notAKey
    /// The text isn't a statement of the offline root.
    case notOfRoot
    /// The service has no offline root yet, and the command didn't pass the root's public key.
    case noRoot
    /// The command passed a list of revoked keys with the public key of an offline root that isn't installed.
    case listOfNewRoot
    /// The service has the offline root with the ID `known`, and the command passed another one. Apps that pinned only
    /// the service's root would trust no new token.
    case anotherRoot(known: String)
    /// The statement is about the key with this ID, which is neither in use nor waits for the offline root.
    case aboutAnotherKey(String)
    /// The period in the statement, in which the key may sign, ended on this date.
    case periodOver(Date)
    /// The list of revoked keys has the counter `counter`, which isn't higher than `known`, the counter of the
    /// installed list.
    case olderRevocations(counter: Int64, known: Int64)
    /// The list of revoked keys lacks the keys with these IDs, which the installed list, with the counter `known`,
    /// revokes.
    case missingRevocations([String], known: Int64)
    /// The offline root's list of revoked keys would be longer than apps accept.
    case tooManyRevocations
    /// The private key in the file can't be read.
    case cannotSign

    var description: String {
        switch self {
        case .chainTooLong(let oldest):
            """
            the chain has its maximum of \(SigningKeyBounds.maximumChainLength) keys. After this rotation, apps that \
            pinned only the oldest one, `\(oldest)`, would trust no new entitlement token; if no such app is in use \
            anymore, rotate with `--drop-oldest`
            """
        case .unknownKey(let id): "there is no signing key `\(id)`; `tenure signing-key list` shows all keys"
        case .alreadyRevoked(let id): "the signing key `\(id)` is revoked already; nothing was changed"
        case .revokedKey(let id): "the signing key `\(id)` is revoked, so it can't be used again; use another key"
        case .notAKey:
            """
            the text isn't a P-256 public key; pass the JSON that `tenure signing-key list`, `rotate` or `root create` \
            prints
            """
        case .notOfRoot:
            """
            this service's offline root didn't sign this text; sign again with `tenure signing-key root` and the file of \
            that root
            """
        case .noRoot: "the service has no offline root yet; pass the root's public key with `--root`"
        case .listOfNewRoot:
            """
            a list of revoked keys can't install an offline root; first install the root's statement about the key in use, \
            with `--root`
            """
        case .anotherRoot(let known):
            """
            the service has the offline root `\(known)`, and apps that pinned only that root would trust no new \
            entitlement token; if no such app is in use anymore, install with `--replace-root`
            """
        case .aboutAnotherKey(let id):
            """
            the statement is about the key `\(id)`, which is neither in use nor waiting; sign the waiting key or \
            the key in use; `tenure signing-key list` shows both
            """
        case .periodOver(let end):
            "the signing period ended on \(end.rfc3339); sign the key again with `tenure signing-key root sign`"
        case .olderRevocations(let counter, let known):
            """
            the list of revoked keys has the counter \(counter), but the service's list has the counter \(known); sign \
            the list again with `--counter \(known + 1)` or higher
            """
        case .missingRevocations(let ids, let known):
            """
            the list lacks keys that the service's list revokes; sign it again, with these keys: `tenure signing-key root \
            revoke ROOT_FILE --counter \(known + 1) -- \(ids.joined(separator: " "))`
            """
        case .tooManyRevocations:
            "a root revokes at most \(SigningKeyBounds.maximumRevocations) keys; create a new root for the app's next release"
        case .cannotSign: "the private key in the key file is unreadable; restore the file from your backup"
        }
    }
}
