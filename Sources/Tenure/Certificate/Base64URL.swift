import Foundation
import TenurePolicyFile

/// Base64 for JWS, as in signed policies.
enum Base64URL {
    static func encode(_ bytes: some Sequence<UInt8>) -> String { URLSafeBase64.encode(bytes) }
    static func decode(_ text: some StringProtocol) -> Data? { URLSafeBase64.decode(text.utf8) }
}
