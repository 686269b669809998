package import Foundation

/// Base64 for JWS, keys and tokens, as text.
package enum Base64URL {
    package static func encode(_ bytes: some ContiguousBytes) -> String {
        String(decoding: Base64.urlSafe.encode(bytes), as: UTF8.self)
    }

    /// Nil where a character is foreign, or where the same bytes have another spelling.
    package static func decode(_ text: String) -> [UInt8]? { Base64.urlSafe.decode(Array(text.utf8)[...]) }
}
