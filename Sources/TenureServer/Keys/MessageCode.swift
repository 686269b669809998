import Crypto
import Foundation
import TenureCore
import TenureJSON

/// Authenticates messages with HMAC-SHA256 (RFC 2104) and one key. The key is hashed once in advance, which makes each
/// code faster.
struct MessageCode: Sendable {
    /// The state of the computation after the key, before a message. The state is as secret as the key.
    private let keyed: Secret<HMAC<SHA256>>

    init(key: SymmetricKey) {
        keyed = Secret(HMAC(key: key))
    }

    /// Returns the message's code.
    func code(of message: some DataProtocol) -> HMAC<SHA256>.MAC {
        var hmac = keyed.revealed
        hmac.update(data: message)
        return hmac.finalize()
    }

    /// Returns the message followed by its code, in Base64.
    func text(of message: [UInt8]) -> String { Base64.urlSafe.text(message + Array(code(of: message))) }

    /// Returns the message followed by its code, decoded from Base64; nil if the code is wrong for this key.
    func bytes(in text: [UInt8]) -> [UInt8]? {
        guard let bytes = Base64.urlSafe.decode(text[...]), bytes.count > SHA256.byteCount else { return nil }
        // The time of this comparison doesn't reveal how many bytes of the code are right.
        let isAuthentic = code(of: bytes.dropLast(SHA256.byteCount)) == bytes.suffix(SHA256.byteCount)
        return isAuthentic ? bytes : nil
    }
}
