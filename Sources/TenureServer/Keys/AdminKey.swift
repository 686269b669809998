import Crypto
import HTTPTypes
import Hummingbird

/// The operator's key, from the configuration, as a request shows it: `Authorization: Bearer …`.
struct AdminKey: Sendable {
    private let digest: SHA256Digest

    /// nil where none is configured.
    init?(_ key: String?) {
        guard let key else { return nil }
        digest = SHA256.hash(data: Array(key.utf8))
    }

    /// Compares digests, so that the time says nothing of the key.
    func opens(_ request: Request) -> Bool {
        guard let key = request.bearer else { return false }
        return SHA256.hash(data: Array(key)) == digest
    }
}
