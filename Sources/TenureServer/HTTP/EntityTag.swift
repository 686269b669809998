/// A strong entity tag (RFC 9110, section 8.8.3), with its quotes.
struct EntityTag: Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    /// Whether `If-None-Match` holds the tag, which it may as a weak one.
    func weaklyMatches(_ list: String?) -> Bool {
        Self.entries(of: list).contains { $0 == "*" || $0 == text || $0 == "W/" + text }
    }

    /// Whether `If-Match` holds the tag. A weak one matches nothing.
    func stronglyMatches(_ list: String?) -> Bool {
        Self.entries(of: list).contains { $0 == "*" || $0 == text }
    }

    private static func entries(of list: String?) -> [Substring] {
        (list ?? "").split(separator: ",").map { entry in
            entry.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
        }
    }
}
