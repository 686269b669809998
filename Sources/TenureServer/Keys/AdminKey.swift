import Crypto
import HTTPTypes
import Hummingbird

/// The operator's key, from the configuration, as a request shows it: `Authorization: Bearer …`.
struct AdminKey: Sendable {
    private let digest: SHA256Digest

    /// Nil where none is configured.
    init?(_ key: String?) {
        guard let secret = key.flatMap({ KeySecret($0) }) else { return nil }
        digest = secret.digest
    }

    /// Compares digests, so that the time says nothing of the key.
    func opens(_ request: Request) -> Bool { request.adminKey.map { opens($0) } ?? false }

    func opens(_ secret: KeySecret) -> Bool { secret.digest == digest }
}

extension Request {
    /// The admin key that it shows; nil for any text that no admin key has.
    var adminKey: KeySecret? { bearer.flatMap { KeySecret(Substring($0)) } }

    /// Whether it shows a key at all, of whatever kind.
    var hasAuthorization: Bool { headers.contains(.authorization) }
}
