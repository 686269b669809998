package import Foundation

/// Base64 as JWS has it (RFC 7515, section 2): the URL-safe alphabet without padding, one spelling for each value.
package enum URLSafeBase64 {
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text = Data(bytes).base64EncodedString()
        while text.hasSuffix("=") { text.removeLast() }
        return text.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
    }

    /// Nil where a character is foreign or the spelling is not the one that encoding gives.
    package static func decode(_ text: some Collection<UInt8>) -> Data? {
        var standard = Data(capacity: text.count + 3)
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: standard.append(byte)
            }
        }
        while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
        guard let bytes = Data(base64Encoded: standard), encode(bytes).utf8.elementsEqual(text) else { return nil }
        return bytes
    }
}
