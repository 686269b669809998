import Hummingbird

extension Request {
    /// The token after `Authorization: Bearer`; nil unless there is exactly one such header. The case of `Bearer`
    /// doesn't matter (RFC 9110, section 11.1).
    var bearer: Substring.UTF8View? {
        guard let header = authorization?.utf8,
            let start = header.index(header.startIndex, offsetBy: 7, limitedBy: header.endIndex),
            // In ASCII, this bit makes a letter lowercase, and a blank has it already.
            zip(header, "bearer ".utf8).allSatisfy({ $0 | 0x20 == $1 })
        else { return nil }
        return header[start...]
    }

    /// The value of the `Authorization` header; nil unless there is exactly one such header. With several headers, a
    /// proxy and the service might use different values.
    private var authorization: String? {
        let values = headers[values: .authorization]
        return values.count == 1 ? values[0] : nil
    }
}

extension Request {
    /// The languages of the reader, the preferred one first, from `Accept-Language`. Empty if the header is missing.
    var languages: [String] { headers[.acceptLanguage].map(AcceptLanguage.languages(in:)) ?? [] }
}

/// `Accept-Language` of RFC 9110, section 12.5.4.
enum AcceptLanguage {
    /// How many languages are read. Further languages are ignored, because no person needs more.
    private static let maximumLanguages = 16

    /// Returns the language tags, the one with the highest weight first. A header such as `de, en;q=0.5` gives German
    /// the weight 1, and English 0.5. Entries that can't be read, `*`, and languages that the reader excludes (`q=0`)
    /// are left out.
    static func languages(in header: String) -> [String] {
        var weighted: [(language: String, weight: Double)] = []
        for range in header.prefix(1024).split(separator: ",").prefix(maximumLanguages) {
            let parts = range.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            guard let language = parts.first, !language.isEmpty,
                language.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
            else { continue }
            var weight = 1.0
            if let text = parts.dropFirst().first(where: { $0.lowercased().hasPrefix("q=") }) {
                guard let number = Double(text.dropFirst(2)), (0...1).contains(number) else { continue }
                weight = number
            }
            if weight > 0 { weighted.append((language, weight)) }
        }
        // Equal weights keep their order.
        return weighted.enumerated()
            .sorted { (-$0.element.weight, $0.offset) < (-$1.element.weight, $1.offset) }
            .map(\.element.language)
    }
}
