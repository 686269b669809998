extension Unicode.Scalar {
    /// Whether the character changes how the text around it is displayed: control characters, line separators, and the
    /// characters of Unicode's property Bidi_Control.
    package var altersDisplay: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension StringProtocol {
    /// The text with an escape such as `\u{202E}` in place of each character that alters how the text around it is
    /// shown.
    ///
    /// For terminals, logs and reports: names from other systems can contain such characters.
    package var escapedForDisplay: String {
        guard unicodeScalars.contains(where: \.altersDisplay) else { return String(self) }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.altersDisplay {
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The text with the same escapes as `escapedForDisplay`, but with its line breaks.
    package var escapedLinesForDisplay: String {
        String(self).unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { Substring($0).escapedForDisplay }.joined(separator: "\n")
    }

    /// The JSON text with JSON's own escapes for characters that alter how text is shown, so that its value doesn't
    /// change.
    ///
    /// Blanks and line breaks between values are kept. JSON allows no other characters below U+0020, and inside a
    /// string it allows no such character at all.
    package var escapedJSONForDisplay: String {
        func isHidden(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= 0x7F && scalar.altersDisplay }
        guard unicodeScalars.contains(where: isHidden) else { return String(self) }
        var text = ""
        for scalar in unicodeScalars {
            if isHidden(scalar) {
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
