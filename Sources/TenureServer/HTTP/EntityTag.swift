/// A strong entity tag, with its quotes: the value of an `ETag` header that identifies one version of a file (RFC 9110,
/// section 8.8.3).
struct EntityTag: Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    /// Whether the list of an `If-None-Match` header contains the tag, strong or weak.
    func weaklyMatches(_ list: String?) -> Bool {
        Self.entries(of: list).contains { $0 == "*" || $0 == text || $0 == "W/" + text }
    }

    /// Whether the list of an `If-Match` header contains the tag. Weak tags never match.
    func stronglyMatches(_ list: String?) -> Bool { Self.entries(of: list).contains { $0 == "*" || $0 == text } }

    private static func entries(of list: String?) -> [Substring] {
        (list ?? "").split(separator: ",").map { entry in
            entry.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
        }
    }
}
