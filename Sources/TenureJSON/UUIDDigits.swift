package import Foundation

extension UUID {
    /// The UUID as 36 lowercase characters. Foundation's formatting would be too slow for every request.
    package var lowercaseUTF8: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 36) { text, count in
            withUnsafeBytes(of: uuid) { bytes in
                // 16 bytes of two digits and four hyphens: 36 characters.
                for (index, byte) in bytes.enumerated() {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        text[count] = UInt8(ascii: "-")
                        count += 1
                    }
                    text[count] = HexDigit.lowercase(byte >> 4)
                    text[count + 1] = HexDigit.lowercase(byte & 15)
                    count += 2
                }
            }
        }
    }

    /// Reads 32 hexadecimal digits of either case with hyphens after the 8th, 12th, 16th and 20th; nil for anything
    /// else.
    package init?(digits text: String) {
        var text = text
        let bytes: uuid_t? = text.withUTF8 { utf8 in
            guard utf8.count == 36 else { return nil }
            var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            let isRead = withUnsafeMutableBytes(of: &bytes) { bytes in
                var position = 0
                for index in bytes.indices {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        guard utf8[position] == UInt8(ascii: "-") else { return false }
                        position += 1
                    }
                    guard let high = HexDigit.value(utf8[position]), let low = HexDigit.value(utf8[position + 1])
                    else { return false }
                    bytes[index] = high << 4 | low
                    position += 2
                }
                return true
            }
            return isRead ? bytes : nil
        }
        guard let bytes else { return nil }
        self.init(uuid: bytes)
    }
}
