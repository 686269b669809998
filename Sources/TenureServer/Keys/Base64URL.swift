import TenureCore

/// Base64 for JWS and tokens, as text.
enum Base64URL {
    static func encode(_ bytes: some Sequence<UInt8>) -> String { Base64.urlSafe.text(bytes) }
}
