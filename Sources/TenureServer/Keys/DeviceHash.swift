import Crypto
import Foundation
import TenureCore
import TenureJSON

extension UUID {
    /// The device ID in the database and in entitlement tokens: SHA-256 of the lowercase UUID, in Base64.
    var hashed: String { Base64.urlSafe.text(SHA256.hash(data: lowercaseUTF8)) }
}
