import TenureJSON

extension UInt8 {
    /// Whether the byte is an unreserved character, which never needs percent-encoding (RFC 3986, section 2.3).
    var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

extension String {
    /// Percent-encodes all characters except unreserved characters and the characters in `kept`.
    func percentEncoded(keeping kept: String = "") -> String {
        utf8.reduce(into: "") { encoded, byte in
            if byte.isUnreserved || kept.utf8.contains(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                encoded += "%" + [byte].hexadecimal.uppercased()
            }
        }
    }
}
