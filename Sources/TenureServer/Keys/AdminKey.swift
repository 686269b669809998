import Crypto
import Hummingbird

/// The admin key from the file in the setting `adminKeyFile`. Requests to the admin API send it as a bearer token.
struct AdminKey: Sendable {
    private let digest: SHA256Digest

    /// Creates the key from its text. Nil if no key is configured, or if `tenure admin-key` can't have made the text.
    init?(_ key: String?) {
        guard let key, let secret = KeySecret(key) else { return nil }
        digest = secret.digest
    }

    /// Whether the request has this key.
    func matches(_ request: Request) -> Bool { if let secret = request.adminKey { matches(secret) } else { false } }

    /// Whether `secret` is this key. Compares digests, so that the time of the comparison reveals nothing about the
    /// key.
    func matches(_ secret: KeySecret) -> Bool { secret.digest == digest }
}

extension Request {
    /// The admin key in the request; nil if the request has none, or a string that can't be an admin key.
    var adminKey: KeySecret? { bearer.flatMap { KeySecret(Substring($0)) } }

    /// Whether the request has any authorization, valid or not.
    var hasAuthorization: Bool { headers.contains(.authorization) }
}
