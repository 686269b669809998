import Crypto
import TenureCore
import TenureJSON

/// Authenticates messages with HMAC-SHA256 (RFC 2104) and one key. The key is hashed once, when the value is created,
/// which makes the computation of each code faster.
struct MessageCode: Sendable {
    /// The state of the computation after the key, before a message. The state is as secret as the key.
    private let keyed: Secret<HMAC<SHA256>>

    init(key: SymmetricKey) { keyed = Secret(HMAC(key: key)) }

    /// Returns the message followed by its code, in Base64.
    func text(of message: [UInt8]) -> String {
        Base64.urlSafe.text(message + message.withUnsafeBytes { Array(code(of: $0)) })
    }

    /// Returns the message followed by its code, decoded from Base64; nil if the code is wrong for this key.
    func bytes(in text: [UInt8]) -> [UInt8]? {
        guard let bytes = Base64.urlSafe.decode(text[...]), bytes.count > SHA256.byteCount else { return nil }
        let isAuthentic = bytes.withUnsafeBytes { bytes in
            let end = bytes.count - SHA256.byteCount
            // The time of this comparison doesn't reveal how many bytes of the code are right.
            return code(of: UnsafeRawBufferPointer(rebasing: bytes[..<end]))
                == UnsafeRawBufferPointer(rebasing: bytes[end...])
        }
        return isAuthentic ? bytes : nil
    }

    /// Returns the message's code. The message is a buffer, because `update` is slower with an array.
    func code(of message: UnsafeRawBufferPointer) -> HMAC<SHA256>.MAC {
        var hmac = keyed.revealed
        hmac.update(data: message)
        return hmac.finalize()
    }
}
