package import Foundation
import TenureJSON

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// The bytes of the stored state: a format identifier, a seal (an HMAC) of the contents, and the contents.
///
/// The seal is made with a secret that stays on the device. So a state that was changed, truncated or copied from
/// another device is detected.
package enum SealedState {
    /// The maximum size of a sealed state, in bytes.
    static let maximumSize = 8 * 1024 * 1024
    private static let format = Data("tenure1\n".utf8)
    private static let sealSize = 32

    /// Returns the bytes to store for these contents.
    package static func seal(_ contents: Data, with secret: Data) -> Data {
        format + Data(HMAC<SHA256>.authenticationCode(for: contents, using: key(secret))) + contents
    }

    /// Returns the contents of sealed bytes. Nil if the bytes have another format, or if the seal is invalid.
    package static func open(_ bytes: Data, with secret: Data) -> Data? {
        let start = format.count + sealSize
        guard bytes.count >= start, bytes.prefix(format.count) == format else { return nil }
        let contents = bytes.dropFirst(start)
        let seal = bytes.dropFirst(format.count).prefix(sealSize)
        guard HMAC<SHA256>.isValidAuthenticationCode(seal, authenticating: contents, using: key(secret)) else {
            return nil
        }
        return contents
    }

    /// Returns a digest that identifies sealed bytes.
    static func digest(of bytes: Data) -> String { Base64.urlSafe.text(SHA256.hash(data: bytes)) }

    private static func key(_ secret: Data) -> SymmetricKey { SymmetricKey(data: Data("tenure".utf8) + secret) }
}
