import Crypto
import HTTPTypes
import Hummingbird

/// The operator's key, from the configuration, as a request shows it: `Authorization: Bearer …`.
struct AdminKey: Sendable {
    private let digest: SHA256Digest

    /// nil where none is configured.
    init?(_ key: String?) {
        guard let key, !key.isEmpty else { return nil }
        digest = SHA256.hash(data: Array(key.utf8))
    }

    /// Compares digests, so that the time says nothing of the key.
    func opens(_ request: Request) -> Bool {
        guard let header = request.headers[.authorization]?.utf8,
            let start = header.index(header.startIndex, offsetBy: 7, limitedBy: header.endIndex),
            zip(header, "bearer ".utf8).allSatisfy({ $0 | 0x20 == $1 })
        else { return false }
        return SHA256.hash(data: Array(header[start...])) == digest
    }
}
