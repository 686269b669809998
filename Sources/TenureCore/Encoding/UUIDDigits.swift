package import Foundation

extension UUID {
    /// Its 36 lower-case characters.
    ///
    /// Digit by digit: Foundation prints it by a format, which every sync would wait for.
    package var lowercaseUTF8: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 36) { text, count in
            withUnsafeBytes(of: uuid) { bytes in
                // 16 bytes of two digits and four hyphens: 36 characters.
                for (index, byte) in bytes.enumerated() {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        text[count] = UInt8(ascii: "-")
                        count += 1
                    }
                    text[count] = Self.digit(byte >> 4)
                    text[count + 1] = Self.digit(byte & 15)
                    count += 2
                }
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
