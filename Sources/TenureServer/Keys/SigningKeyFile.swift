import Crypto
import Foundation
import TenureCore

/// What the file of the signing keys contains: the private key in use, the public keys, and what vouches for them.
///
/// One file, so that replacing it changes all of it or nothing.
struct SigningKeyFile: Codable, Hashable, Sendable {
    struct Key: Codable, Hashable, Sendable {
        let key: JSONWebKey
        /// Seconds since 1970, as are the others.
        let createdAt: Int64
        /// When the next key took its place.
        var retiredAt: Int64?
        var revokedAt: Int64?
    }

    /// A key that waits for the offline root's statement.
    struct Next: Codable, Hashable, Sendable {
        let privateKey: String
        let createdAt: Int64
    }

    /// Of the last of `keys`, in PEM. No older private key is kept.
    var privateKey: String
    /// Oldest first. The last one is in use.
    var keys: [Key]
    /// Statements by which each of the last keys vouches for the one after it, oldest first.
    var chain: [String] = []
    var next: Next?
    var root: JSONWebKey?
    /// The root's statement about the key in use.
    var rootStatement: String?
    /// The root's list of revoked keys.
    var revocations: String?

    init(_ key: P256.Signing.PrivateKey = .newSigningKey(), at now: Date) {
        privateKey = key.pemRepresentation
        keys = [Key(key: JSONWebKey(key.publicKey), createdAt: now.seconds)]
    }

    init(_ bytes: [UInt8]) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(bytes))
    }

    var bytes: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        }
    }

    /// Where in `keys` the chain begins.
    var chainStart: Int { keys.count - 1 - chain.count }
}

extension Date {
    /// Since 1970.
    var seconds: Int64 { Int64(timeIntervalSince1970) }
}
