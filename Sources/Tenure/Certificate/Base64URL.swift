package import Foundation
import TenureCore

/// Base64 for JWS, as text and data.
package enum Base64URL {
    package static func encode(_ bytes: some Sequence<UInt8>) -> String { Base64.urlSafe.text(bytes) }
    package static func decode(_ text: some StringProtocol) -> Data? { Base64.urlSafe.decode(text).map { Data($0) } }
}
