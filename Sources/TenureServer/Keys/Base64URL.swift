import Foundation
import TenureAppStore

/// Base64 for JWS and tokens, as text.
enum Base64URL {
    static func encode(_ bytes: some ContiguousBytes) -> String {
        String(decoding: Base64.urlSafe.encode(bytes), as: UTF8.self)
    }
}
