import Foundation
import TenureAPI
import TenureJSON

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
