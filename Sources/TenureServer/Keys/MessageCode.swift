import Crypto
import Foundation
import TenureCore
import TenureJSON

/// Authenticates messages with HMAC-SHA256 (RFC 2104) and one key. The key's blocks are hashed once in advance, which
/// makes each code faster.
struct MessageCode: Sendable {
    /// The hash states after the key's blocks. They are as secret as the key.
    private let states: Secret<States>

    private struct States: Sendable {
        let inner: SHA256
        let outer: SHA256
    }

    init(key: SymmetricKey) {
        var bytes = key.withUnsafeBytes { [UInt8]($0) }
        if bytes.count > SHA256.blockByteCount { bytes = Array(SHA256.hash(data: bytes)) }
        bytes += repeatElement(0, count: SHA256.blockByteCount - bytes.count)
        // The inner and the outer padding of RFC 2104.
        var (inner, outer) = (SHA256(), SHA256())
        inner.update(data: bytes.map { $0 ^ 0x36 })
        outer.update(data: bytes.map { $0 ^ 0x5C })
        states = Secret(States(inner: inner, outer: outer))
    }

    /// Returns the message's code.
    func code(of message: UnsafeRawBufferPointer) -> SHA256Digest {
        let states = states.revealed
        var hash = states.inner
        hash.update(bufferPointer: message)
        let digest = hash.finalize()
        hash = states.outer
        digest.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return hash.finalize()
    }

    /// Returns the message followed by its code, in Base64.
    func text(of message: [UInt8]) -> String {
        var bytes = message
        let code = message.withUnsafeBytes { self.code(of: $0) }
        code.withUnsafeBytes { bytes += $0 }
        return Base64.urlSafe.text(bytes)
    }

    /// Returns the message followed by its code, decoded from Base64; nil if the code is wrong for this key.
    func bytes(in text: [UInt8]) -> [UInt8]? {
        guard let bytes = Base64.urlSafe.decode(text[...]), bytes.count > SHA256.byteCount else { return nil }
        let end = bytes.count - SHA256.byteCount
        let isAuthentic = bytes.withUnsafeBytes { bytes in
            isValid(.init(rebasing: bytes[end...]), of: .init(rebasing: bytes[..<end]))
        }
        return isAuthentic ? bytes : nil
    }

    /// Whether `code` is the message's code. The time it takes doesn't reveal how many bytes are right.
    func isValid(_ code: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer) -> Bool {
        self.code(of: message).withUnsafeBytes { right in
            guard right.count == code.count else { return false }
            var difference: UInt8 = 0
            for index in 0..<right.count { difference |= right[index] ^ code[index] }
            return difference == 0
        }
    }
}
