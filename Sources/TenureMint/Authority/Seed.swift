import Crypto
import Foundation

/// The source of everything reproducible in a test authority: each value is derived with a label.
struct Seed: Sendable {
    private let secret: SymmetricKey

    init(_ text: String) {
        secret = SymmetricKey(data: SHA256.hash(data: Array("tenure test authority \(text)".utf8)))
    }

    /// 128 random bits.
    static func random() -> Seed {
        Seed((0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }.joined())
    }

    func bytes(for label: String, count: Int) -> [UInt8] {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: secret, info: Array(label.utf8), outputByteCount: count)
            .withUnsafeBytes { Array($0) }
    }

    func p256(_ label: String) throws -> P256.Signing.PrivateKey {
        try key(label) { try P256.Signing.PrivateKey(rawRepresentation: bytes(for: $0, count: 32)) }
    }

    func p384(_ label: String) throws -> P384.Signing.PrivateKey {
        try key(label) { try P384.Signing.PrivateKey(rawRepresentation: bytes(for: $0, count: 48)) }
    }

    /// Almost every sequence of bytes is a key; the one in billions that isn't is skipped.
    private func key<Key>(_ label: String, _ make: (String) throws -> Key) throws -> Key {
        for attempt in 0..<16 {
            if let key = try? make("\(label) key \(attempt)") { return key }
        }
        throw MintingError("no key for `\(label)` can be derived from this seed; use another one")
    }
}
