import Crypto
import Foundation
import TenureCore

extension UUID {
    /// How the record and certificates write a device: SHA-256 of the lower-case UUID, in Base64.
    var hashed: String { Base64URL.encode(SHA256.hash(data: lowercaseUTF8)) }
}
