package import Foundation
import TenureJSON

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// A SHA-256 digest: of a file in an asset pack, of a chunk (4 MiB) of a file, or of a pack's manifest or archive.
/// Published manifests and archives are named by their digests.
package struct ContentDigest: Sendable, Hashable {
    /// The digest's 32 bytes, as four big-endian numbers.
    private let words: SIMD4<UInt64>

    /// The size of a digest in bytes.
    package static let size = 32

    /// - Parameter bytes: exactly 32 bytes. For any other number, the result is nil.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        words = Self.words(of: bytes)
    }

    /// - Parameter text: 64 hexadecimal digits in lower case. For any other text, the result is nil.
    package init?(_ text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard digits.count == 2 * Self.size else { return nil }
        var words = SIMD4<UInt64>()
        for (index, digit) in digits.enumerated() {
            guard let value = HexDigit.value(digit), HexDigit.lowercase(value) == digit else { return nil }
            words[index / 16] = words[index / 16] << 4 | UInt64(value)
        }
        self.words = words
    }

    /// Computes the digest of these bytes.
    package init(of bytes: some DataProtocol) {
        var hash = ContentHash()
        hash.update(bytes)
        self = hash.digest
    }

    fileprivate init(_ digest: SHA256.Digest) { words = Self.words(of: digest) }

    private static func words(of bytes: some Sequence<UInt8>) -> SIMD4<UInt64> {
        var words = SIMD4<UInt64>()
        for (index, byte) in bytes.enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
        return words
    }

    /// The digest's 32 bytes.
    package var bytes: [UInt8] {
        (0..<Self.size).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> UInt64(56 - $0 % 8 * 8)) }
    }
}

extension ContentDigest: CustomStringConvertible {
    /// 64 hexadecimal digits in lower case.
    package var description: String { bytes.hexadecimal }
}

extension ContentDigest: Decodable {
    /// Reads a digest from a string of 64 hexadecimal digits.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let digest = ContentDigest(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a SHA-256 digest")
        }
        self = digest
    }
}

extension JSONWriter {
    /// Writes a field with a digest as a string.
    mutating func field(_ name: String, _ digest: ContentDigest) { field(name, digest.description) }
}

/// Computes a digest of bytes that are given in pieces.
package struct ContentHash: Sendable {
    private var hash = SHA256()

    package init() {}

    package mutating func update(_ bytes: some DataProtocol) { hash.update(data: bytes) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

    /// The digest of all bytes that were added so far.
    package var digest: ContentDigest { ContentDigest(hash.finalize()) }
}
