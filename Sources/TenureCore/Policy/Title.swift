/// The title of an entitlement or a product that customers see, in one or more languages.
public struct Title: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The title in one language.
    public struct Translation: Sendable, Hashable {
        /// A BCP 47 tag such as `en`, `de-AT` or `zh-Hans`.
        public let language: String
        /// What customers read, without line breaks.
        public let text: String

        /// Any text is accepted. `Policy` reports a malformed tag, and a text that is empty or longer than 60
        /// characters.
        public init(language: String, text: String) {
            self.language = language
            self.text = text
        }
    }

    /// The translations in the order of the policy. Readers of all other languages get the first translation.
    public let translations: [Translation]

    /// The maximum number of characters, so that a sentence with the title stays readable.
    static let maximumTextLength = 60

    /// Any translations are accepted. `Policy` reports an empty list, and two texts for one language.
    public init(_ translations: [Translation]) { self.translations = translations }

    /// Returns the text in the first of the reader's languages that the title has, otherwise the first text.
    ///
    /// Returns nil for a title without translations, which is invalid in a policy.
    ///
    /// - Parameter languages: BCP 47 tags, the preferred one first, such as `Locale.preferredLanguages`.
    public func text(for languages: [String]) -> String? {
        for language in languages {
            if let translation = translation(for: LanguageTag(language)) { return translation.text }
        }
        return translations.first?.text
    }

    /// Returns the translation in this language: for the same region if there is such a translation, otherwise without
    /// a region or for another region.
    private func translation(for wanted: LanguageTag) -> Translation? {
        let related = translations.filter { LanguageTag($0.language).language == wanted.language }
        guard related.count > 1 else { return related.first }
        // Look for the whole tag, then for shorter tags, such as `de-AT` and then `de`.
        var prefix = wanted.subtags
        while !prefix.isEmpty {
            let match = related.first {
                let tag = LanguageTag($0.language)
                return tag.subtags == prefix && tag.script == wanted.script
            }
            if let match { return match }
            prefix.removeLast()
        }
        return related.first { LanguageTag($0.language).script == wanted.script } ?? related.first
    }

    /// Keeps the order in which the translations are written.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { language, text in Translation(language: language, text: text) })
    }
}

/// The subtags of a language tag. Case is ignored, and `de_AT` is read as `de-AT`.
struct LanguageTag {
    let subtags: [String]

    init(_ tag: String) {
        subtags = tag.lowercased().split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }.map(String.init)
    }

    /// The primary language. The three codes of Norwegian are treated as one language.
    var language: String {
        let language = subtags.first ?? ""
        return ["nb", "nn"].contains(language) ? "no" : language
    }

    /// For Chinese, `hant` (Traditional) or `hans` (Simplified), from the tag's script or else from its region. Nil for
    /// other languages.
    var script: String? {
        guard language == "zh" else { return nil }
        if subtags.contains("hant") { return "hant" }
        if subtags.contains("hans") { return "hans" }
        return subtags.contains { ["tw", "hk", "mo"].contains($0) } ? "hant" : "hans"
    }

    /// Whether the text has the form of a BCP 47 tag. All languages in use have codes of two or three letters.
    static func isWellFormed(_ tag: String) -> Bool {
        let subtags = tag.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard let language = subtags.first, (2...3).contains(language.count), language.allSatisfy(isLetter)
        else { return false }
        return subtags.dropFirst().allSatisfy {
            (1...8).contains($0.count) && $0.allSatisfy { isLetter($0) || isDigit($0) }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
