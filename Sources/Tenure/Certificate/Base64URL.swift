import Foundation

/// Base64 for JWS (RFC 7515): the URL's alphabet, without padding.
enum Base64URL {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// Nil where a character is foreign, or where the same bytes have another spelling.
    static func decode(_ text: some StringProtocol) -> Data? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 3)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"): bytes.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): bytes.append(UInt8(ascii: "/"))
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                bytes.append(byte)
            default: return nil
            }
        }
        let digits = bytes.count
        while bytes.count % 4 != 0 { bytes.append(UInt8(ascii: "=")) }
        guard digits % 4 != 1, let data = Data(base64Encoded: Data(bytes)) else { return nil }
        // Unused bits that are not 0 would spell the same bytes a second time.
        guard digits % 4 == 0 || Data(data.base64EncodedData()) == Data(bytes) else { return nil }
        return data
    }
}
