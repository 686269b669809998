/// Recognizes a list of PostgreSQL options in one text, such as `host=db.example.com user=ada password=…`. Tenure takes a
/// URL instead, and would take the list for the path of a file.
package enum ConnectionString {
    /// The error message for such a list. It doesn't repeat the text, which may contain a password.
    package static let objection =
        "the database is a list of options; write a URL such as `postgresql://…`"

    /// Options of libpq of which a list usually has one.
    private static let options: Set<String> = [
        "host", "hostaddr", "port", "dbname", "user", "passfile", "service", "sslmode", "connect_timeout",
        "application_name", "options", "target_session_attrs",
    ]

    /// Whether a text is such a list. A configuration file may have put its folder before it.
    package static func matches(_ text: String) -> Bool {
        guard !["postgres://", "postgresql://"].contains(where: text.hasPrefix) else { return false }
        // A list that libpq can't read counts too, such as one without a closing quote.
        let parts = text.lowercased().split(separator: "=", omittingEmptySubsequences: false)
        // The word before each `=`. The first may follow a folder; a later one with a slash is part of a path.
        let names = parts.dropLast().enumerated().compactMap { place, part -> Substring? in
            let word = part.split(whereSeparator: \.isWhitespace).last ?? ""
            return place == 0 ? word.split(separator: "/").last : word.contains("/") ? nil : word
        }
        if names.contains(where: { $0.hasSuffix("password") && $0.allSatisfy(\.isLetter) }) { return true }
        guard names.contains(where: { options.contains(String($0)) }) else { return false }
        // A folder may be named `user=1`.
        let value = parts[1].drop { $0.isWhitespace || $0 == "'" }
        return names.count > 1 || !value.contains("/") || value.hasPrefix("/")
    }
}
