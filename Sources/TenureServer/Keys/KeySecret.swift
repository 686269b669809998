import Crypto
import TenureCore
import TenureJSON

/// The text of an admin key, which `tenure admin-key` makes: a prefix, 256 random bits and a checksum.
///
/// The service can't tell whether a string that an operator chose is random enough, so it accepts only strings of this
/// form as admin keys. The database stores only a hash of each key.
package struct KeySecret: Sendable {
    private let secret: Secret<String>

    /// The text after `Bearer `.
    package var text: String { secret.revealed }

    /// The prefix lets tools that scan repositories for secrets recognize a key.
    private static let prefix = "tenure_key_"
    private static let randomSize = 32
    private static let checksumSize = 4

    /// Creates a new random key.
    package init() {
        let bytes = (0..<Self.randomSize).map { _ in UInt8.random(in: .min ... .max) }
        secret = Secret(Self.prefix + Base64.urlSafe.text(bytes + Self.checksum(of: bytes)))
    }

    /// Reads a key; nil for a string that `init()` can't have made.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.starts(with: Self.prefix.utf8) else { return nil }
        let body = Array(text.utf8.dropFirst(Self.prefix.utf8.count))
        guard body.count == (Self.randomSize + Self.checksumSize) * 4 / 3, let bytes = Base64.urlSafe.decode(body[...]),
            bytes.count == Self.randomSize + Self.checksumSize,
            Array(bytes[Self.randomSize...]) == Self.checksum(of: bytes[..<Self.randomSize])
        else { return nil }
        secret = Secret(String(text))
    }

    /// Returns the checksum of the random bytes. The checksum detects all mistyped keys except for one in four billion.
    private static func checksum(of random: some Sequence<UInt8>) -> [UInt8] {
        Array(SHA256.hash(data: Array(prefix.utf8) + Array(random)).prefix(checksumSize))
    }

    /// The SHA-256 of the key's text.
    var digest: SHA256Digest { SHA256.hash(data: Array(text.utf8)) }

    /// The hash in the database. The secret is random, so it needs no slow hash as a password would. The time of a
    /// look-up may reveal something about the hash, but nothing about the secret.
    package var hash: [UInt8] { Array(digest) }
}
