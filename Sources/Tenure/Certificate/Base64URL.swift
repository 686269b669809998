package import Foundation
import TenurePolicyFile

/// Base64 for JWS, as in signed policies.
package enum Base64URL {
    package static func encode(_ bytes: some Sequence<UInt8>) -> String { URLSafeBase64.encode(bytes) }
    package static func decode(_ text: some StringProtocol) -> Data? { URLSafeBase64.decode(text.utf8) }
}
