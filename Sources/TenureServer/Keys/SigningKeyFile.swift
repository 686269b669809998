import Crypto
import Foundation
import TenureCore
import TenureJSON

/// The contents of the file of signing keys: the private key in use, the public keys, and the signed statements that
/// vouch for these keys.
///
/// Apps pin keys: each build contains a public key that it trusts. All keys and statements are in one file, so that
/// replacing the file changes everything or nothing.
struct SigningKeyFile: Codable, Hashable, Sendable {
    /// A public key, with the dates at which it was created, replaced and revoked.
    struct Key: Codable, Hashable, Sendable {
        let key: JSONWebKey
        /// The date of creation, in seconds since 1970, as for the two dates below.
        let createdAt: Int64
        /// The date at which the next key replaced this key; nil if this key is in use.
        var retiredAt: Int64?
        /// The date at which the key was revoked; nil if it isn't revoked.
        var revokedAt: Int64?
    }

    /// A new key that the offline root must sign before it is used.
    struct NextKey: Codable, Hashable, Sendable {
        /// The private key in PEM.
        @KeyFileSecret var privateKey: Secret<String>
        /// The date of creation, in seconds since 1970.
        let createdAt: Int64

        var key: P256.Signing.PrivateKey? { try? P256.Signing.PrivateKey(pemRepresentation: privateKey.revealed) }
    }

    /// The private key of the last of `keys`, in PEM. Older private keys aren't kept.
    @KeyFileSecret var privateKey: Secret<String>
    /// The key in use, and all older keys that apps may trust or that signed tokens which may still be valid. The
    /// oldest key is first, and the key in use is last.
    var keys: [Key]
    /// The last `chain.count + 1` keys form a chain: each key signed a statement that vouches for the next key. These
    /// are the statements, oldest first. An app that pinned a key of the chain trusts the key in use.
    var chain: [String] = []
    /// The key that waits for the offline root's statement; nil if no key waits.
    var next: NextKey?
    /// The offline root's public key; nil if there is no offline root.
    var root: JSONWebKey?
    /// The root's statement about the key in use; nil if the root hasn't signed the key.
    var rootStatement: String?
    /// The root's list of revoked keys; nil if the root has revoked no key.
    var revocations: String?
    /// The lifetime of entitlement tokens in seconds, if the service's configuration sets a longer lifetime than the
    /// default. It is stored here because `tenure signing-key` doesn't read the configuration.
    var tokenLife: Int64?

    /// Creates the contents with a first key.
    init(_ key: P256.Signing.PrivateKey = .newSigningKey(), at now: Date) {
        privateKey = Secret(key.pemRepresentation)
        keys = [Key(key: JSONWebKey(key.publicKey), createdAt: now.seconds)]
    }

    /// Reads the file's bytes. Throws if they aren't the JSON that `bytes` writes.
    init(_ bytes: [UInt8]) throws { self = try JSONDecoder().decode(SigningKeyFile.self, from: Data(bytes)) }

    /// The file's bytes, which contain the private keys. So they may only be written to the file.
    var bytes: [UInt8] {
        get throws { try JSONEncoder.keyFile(of: self) }
    }

    /// The index in `keys` of the oldest key from which the chain leads to the key in use.
    var chainStart: Int { keys.count - 1 - chain.count }
}
