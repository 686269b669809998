import Crypto
import Foundation
import TenureCore
import TenureJSON

extension UUID {
    /// How the record and entitlement tokens write a device: SHA-256 of the lower-case UUID, in Base64.
    var hashed: String { Base64.urlSafe.text(SHA256.hash(data: lowercaseUTF8)) }
}
