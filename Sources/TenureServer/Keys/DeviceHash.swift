import Crypto
import Foundation
import TenureCore

extension UUID {
    /// How the record and certificates write a device: SHA-256 of the lower-case UUID, in Base64.
    var hashed: String { Base64URL.encode(SHA256.hash(data: lowercaseUTF8)) }

    /// Digit by digit: Foundation prints it by a format, which every sync would wait for.
    private var lowercaseUTF8: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        withUnsafeBytes(of: uuid) { bytes in
            for (index, byte) in bytes.enumerated() {
                if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
                for digit in [byte >> 4, byte & 15] {
                    text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
                }
            }
        }
        return text
    }
}
