import Crypto
package import Foundation
import TenureAPI
import TenureCore
import TenureJSON

/// The file of an offline root: a private key on a machine without a network. The root signs the service's signing
/// keys, and the lists of revoked signing keys.
package struct OfflineRoot: Sendable {
    private let file: SecretFile

    /// The contents of the file.
    struct Contents: Codable, Sendable {
        /// The private key in PEM.
        @KeyFileSecret var privateKey: Secret<String>
        /// The counter of the last list of revoked keys; 0 before the first list. Each list needs a higher counter than
        /// the list before.
        var counter: Int64 = 0
        /// The IDs of all keys that the root has revoked.
        var revoked: [String] = []
    }

    package init(path: String) { file = SecretFile(path: path) }

    /// Creates the root unless the file exists already. Returns the root's public key, which apps pin, as a JSON Web
    /// Key. Throws `ServiceError.keyFile` if the file can't be read or written.
    package func create() throws -> String {
        let contents = Contents(privateKey: Secret(P256.Signing.PrivateKey().pemRepresentation))
        let bytes = try JSONEncoder.keyFile(of: contents)
        let key = try read(try file.contents { bytes }).key
        file.removeLeftovers()
        return String(decoding: JSONWebKey(key.publicKey).bytes, as: UTF8.self)
    }

    /// Signs the statement that a signing key may sign tokens until an instant.
    ///
    /// - Parameter publicKey: The signing key's public half, as a JSON Web Key.
    package func sign(_ publicKey: String, until end: Date, at now: Date) throws -> String {
        guard let key = (try? JSONDecoder().decode(JSONWebKey.self, from: Data(publicKey.utf8)))?.publicKey else {
            throw SigningKeyError.notAKey
        }
        let (contents, root) = try read(try file.existingContents())
        guard !contents.revoked.contains(key.id) else { throw SigningKeyError.revokedKey(key.id) }
        return try RootStatement.sign(key, until: end, by: root, at: now)
    }

    /// Signs a new list of revoked keys: these keys, and all keys that were revoked before.
    ///
    /// - Parameter counter: A lower bound for the counter of the list; nil for no other bound than the counter of the
    ///   last list plus 1.
    package func revoke(_ ids: [String], counter: Int64? = nil, at now: Date) throws -> String {
        let (storedContents, key) = try read(try file.existingContents())
        var contents = storedContents
        contents.counter = max(contents.counter + 1, counter ?? 0)
        guard Self.counters.contains(contents.counter) else { throw damagedFileError }
        for id in ids where !contents.revoked.contains(id) { contents.revoked.append(id) }
        guard contents.revoked.count <= SigningKeyBounds.maximumRevocations else {
            throw SigningKeyError.tooManyRevocations
        }
        file.removeLeftovers()
        // The counter is saved before signing, so that no counter is used twice.
        try file.replace(with: try JSONEncoder.keyFile(of: contents))
        return try RootRevocations.sign(contents.revoked, counter: contents.counter, by: key, at: now)
    }

    /// The valid counters of a file. `Int64.max` is invalid, because the next list needs a higher counter.
    private static let counters = 0..<Int64.max

    private var damagedFileError: ServiceError {
        .keyFile(path: file.path, detail: "the file isn't a readable offline root; restore it from your backup")
    }

    /// Reads the file's bytes, and the private key in them.
    private func read(_ bytes: [UInt8]) throws -> (contents: Contents, key: P256.Signing.PrivateKey) {
        guard let contents = try? JSONDecoder().decode(Contents.self, from: Data(bytes)),
            Self.counters.contains(contents.counter),
            let key = try? P256.Signing.PrivateKey(pemRepresentation: contents.privateKey.revealed)
        else { throw damagedFileError }
        return (contents, key)
    }
}

/// The offline root's signed statement that a signing key may sign until a date.
struct RootStatement: Sendable {
    /// The signing key that the statement is about.
    let key: JSONWebKey
    /// The date until which the key may sign.
    let signUntil: Date

    private struct Payload: Codable {
        /// When the statement was signed. Nothing depends on this date.
        let iat: Int64?
        let key: JSONWebKey
        let signUntil: Int64
    }

    /// Verifies and reads a statement; nil if the root didn't sign it.
    init?(_ text: String, signedBy root: P256.Signing.PublicKey) {
        guard let bytes = root.payload(ofStatement: text, type: SignedType.rootStatement),
            let payload = try? JSONDecoder().decode(Payload.self, from: bytes), payload.key.publicKey != nil
        else { return nil }
        key = payload.key
        signUntil = Date(timeIntervalSince1970: TimeInterval(payload.signUntil))
    }

    /// Signs a statement about a key.
    static func sign(
        _ key: P256.Signing.PublicKey, until end: Date, by root: P256.Signing.PrivateKey, at now: Date
    ) throws -> String {
        let payload = Payload(iat: now.seconds, key: JSONWebKey(key), signUntil: end.seconds)
        return try root.compactJWS([UInt8](try JSONEncoder.sorted.encode(payload)), type: SignedType.rootStatement)
    }
}

/// The offline root's list of revoked keys: all keys that it has revoked. A service uses the list with the highest
/// counter.
struct RootRevocations: Sendable {
    /// The number of the list, higher in each newer list.
    let counter: Int64
    /// The IDs of the revoked keys.
    let revoked: [String]

    /// The JSON of a list. A separate type, so that only `init(_:signedBy:)` creates a list.
    private struct Payload: Codable {
        let counter: Int64
        /// When the list was signed. Nothing depends on this date.
        let iat: Int64?
        let revoked: [String]
    }

    /// Verifies and reads a list; nil if the root didn't sign it.
    init?(_ text: String, signedBy root: P256.Signing.PublicKey) {
        guard let bytes = root.payload(ofStatement: text, type: SignedType.revocations),
            let payload = try? JSONDecoder().decode(Payload.self, from: bytes), payload.counter > 0,
            payload.revoked.count <= SigningKeyBounds.maximumRevocations
        else { return nil }
        (counter, revoked) = (payload.counter, payload.revoked)
    }

    /// Signs a list.
    static func sign(
        _ revoked: [String], counter: Int64, by root: P256.Signing.PrivateKey, at now: Date
    ) throws -> String {
        let payload = Payload(counter: counter, iat: now.seconds, revoked: revoked)
        return try root.compactJWS([UInt8](try JSONEncoder.sorted.encode(payload)), type: SignedType.revocations)
    }
}
