package import Foundation

/// Base64 as JWS has it (RFC 7515, section 2): the URL-safe alphabet without padding, one spelling for each value.
package enum URLSafeBase64 {
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text = [UInt8](Data(bytes).base64EncodedData())
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "+"): text[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): text[index] = UInt8(ascii: "_")
            default: break
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil where a character is foreign, or where the same bytes have another spelling.
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
        // Unused bits that are not 0, blanks and lone digits spell the same bytes a second time.
        guard let bytes = Data(base64Encoded: standard), bytes.base64EncodedData() == standard else { return nil }
        return bytes
    }
}
