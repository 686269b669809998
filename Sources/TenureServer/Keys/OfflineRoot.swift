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
    /// - Parameter counter: The lowest counter that the list may have. Whatever it is, the list's counter is higher
    ///   than that of the last list.
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
