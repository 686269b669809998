/// Hexadecimal digits in ASCII.
package enum HexDigit {
    /// The lowercase digit of a number below 16.
    @inlinable package static func lowercase(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// The value of a digit of either case; nil for any other byte.
    @inlinable package static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension Sequence<UInt8> {
    /// The bytes in hexadecimal: two lowercase digits for each byte.
    package var hexadecimal: String {
        String(decoding: flatMap { [HexDigit.lowercase($0 >> 4), HexDigit.lowercase($0 & 15)] }, as: UTF8.self)
    }
}
