import Crypto
import Foundation
import TenureCore
import TenureJSON

extension UUID {
    /// The form in which the database and entitlement tokens contain a device ID (`AppStore.deviceVerificationID`):
    /// SHA-256 of the lowercase UUID, in base64url without padding. The service never stores the device ID itself.
    var hashed: String { Base64.urlSafe.text(SHA256.hash(data: lowercaseUTF8)) }
}
