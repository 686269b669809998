extension Unicode.Scalar {
    /// Whether the character changes how the text around it is displayed: control characters, line separators, and the
    /// characters of Unicode's property Bidi_Control.
    package var altersDisplay: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Whether the character itself isn't displayed, so that two different texts look the same: the soft hyphen,
    /// characters of zero width, marks of direction and order, and tags.
    package var isInvisible: Bool {
        switch value {
        case 0xAD, 0x200B...0x200F, 0x2060...0x2069, 0xFEFF, 0xE0000...0xE007F: true
        default: false
        }
    }

    /// Whether the character must be escaped for display: it alters how the text around it is displayed, or is
    /// invisible.
    package var isHidden: Bool { altersDisplay || isInvisible }

    /// Whether the character joins or separates its neighbors. Emoji, Arabic and Indic scripts need these characters.
    fileprivate var isJoiner: Bool { value == 0x200C || value == 0x200D }

    /// Whether a joiner between this character and another one like it is displayed as it is. Emoji and the scripts
    /// that need joiners begin at U+0600. Some scripts from there on don't need joiners, but are treated alike.
    fileprivate var canBeJoined: Bool { value >= 0x600 && !isHidden }
}

extension StringProtocol {
    /// The text with an escape such as `\u{202E}` in place of each hidden character. A joiner between two visible
    /// characters from U+0600 on stays, because emoji and the Arabic and Indic scripts need it.
    ///
    /// For terminals, logs and reports: names from other systems can contain such characters.
    package var escapedForDisplay: String { escapingHidden { "\\u{\(String($0.value, radix: 16, uppercase: true))}" } }

    /// The text with the same escapes as `escapedForDisplay`, but with its line breaks.
    package var escapedLinesForDisplay: String {
        String(self).unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { Substring($0).escapedForDisplay }.joined(separator: "\n")
    }

    /// The JSON text with JSON's own escapes, such as `\u202e`, in place of the characters that `escapedForDisplay`
    /// escapes. The value of the JSON doesn't change.
    ///
    /// Blanks and line breaks between values are kept. JSON allows no other characters below U+0020, and inside a
    /// string it allows no such character at all.
    package var escapedJSONForDisplay: String {
        guard unicodeScalars.contains(where: { $0.value >= 0x7F && $0.isHidden }) else { return String(self) }
        return escapingHidden { scalar in
            guard scalar.value >= 0x7F else { return String(scalar) }
            // Characters above U+FFFF have two escapes.
            return String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
    }

    private func escapingHidden(_ escape: (Unicode.Scalar) -> String) -> String {
        guard unicodeScalars.contains(where: \.isHidden) else { return String(self) }
        var text = ""
        var previous: Unicode.Scalar?
        var rest = String(self).unicodeScalars[...]
        while let scalar = rest.popFirst() {
            let joins = scalar.isJoiner && (previous?.canBeJoined ?? false) && (rest.first?.canBeJoined ?? false)
            if scalar.isHidden, !joins { text += escape(scalar) } else { text.unicodeScalars.append(scalar) }
            previous = scalar
        }
        return text
    }
}
