extension Title {
    /// Returns the mistakes in the title.
    ///
    /// - Parameter path: the keys and indexes from the top of the policy to the title.
    func mistakes(at path: [PolicyMistake.Step]) -> [PolicyMistake] {
        guard !translations.isEmpty
        else { return [PolicyMistake(path, "the title has no text; write one, such as `{ en: Everything }`")] }
        var mistakes: [PolicyMistake] = []
        var languages: Set<String> = []
        for translation in translations {
            let language = translation.language
            let path = path + [.key(language)]
            if !LanguageTag.isWellFormed(language) {
                let hyphenated = language.split(separator: "_").joined(separator: "-")
                let example = LanguageTag.isWellFormed(hyphenated) ? "`\(hyphenated)`" : "one such as `en` or `pt-BR`"
                mistakes.add(path, "`\(language.visible)` isn't a language tag; write \(example)")
            } else if !languages.insert(language.lowercased()).inserted {
                mistakes.add(path, "the title has two texts for `\(language)`; keep one")
            }
            if let mistake = Self.mistake(in: translation.text) { mistakes.add(path, mistake) }
        }
        return mistakes
    }

    /// Returns the message about the first mistake in a text of the title. Nil if the text has no mistake.
    private static func mistake(in text: String) -> String? {
        if text.allSatisfy(\.isWhitespace) { return "the title is empty; write a name for customers" }
        if let hidden = text.unicodeScalars.first(where: \.isHiddenInTitle) {
            return "the title has the invisible character \(hidden.codePoint); remove it"
        }
        let words = text.split(omittingEmptySubsequences: false, whereSeparator: \.isWhitespace)
        if words.contains(where: \.isEmpty) { return "the title has spaces at an end, or two in a row; remove them" }
        if text.count > maximumTextLength {
            return "the title has \(text.count) characters; shorten it to at most \(maximumTextLength)"
        }
        return nil
    }
}

extension Unicode.Scalar {
    /// Whether the character alters how text is shown, or is a byte order mark (U+FEFF). Titles may have other
    /// invisible characters, which many languages need.
    fileprivate var isHiddenInTitle: Bool { altersDisplay || value == 0xFEFF }

    /// The scalar's number in Unicode, such as `U+200E`.
    fileprivate var codePoint: String {
        let digits = String(value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension String {
    /// The text for a message: without invisible characters, and shortened.
    fileprivate var visible: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { !$0.isHiddenInTitle }.prefix(40)))
    }
}
