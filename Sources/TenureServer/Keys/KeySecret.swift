import Crypto
import Foundation
import TenureCore

/// The secret of a key to the admin interface: shown once, kept as a hash.
package struct KeySecret: Sendable {
    /// What stands after `Bearer `.
    package let text: String

    /// So that those who scan repositories for secrets know one when they see it.
    private static let prefix = "tenure_key_"

    /// A new one: 256 random bits.
    package init() {
        var random = SystemRandomNumberGenerator()
        text = Self.prefix + Base64.urlSafe.text((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    init(_ text: String) {
        self.text = text
    }

    var digest: SHA256Digest { SHA256.hash(data: Array(text.utf8)) }

    /// By which the record knows it. The bits are random, so that no slow hash is needed; whoever measures how long the
    /// record looks for one learns of the hash, never of the secret.
    package var hash: [UInt8] { Array(digest) }
}
