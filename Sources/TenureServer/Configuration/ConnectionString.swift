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
        let text = text.lowercased()
        // Also in a list that libpq wouldn't read, such as one without a closing quote.
        let names = text.split(separator: "=", omittingEmptySubsequences: false).dropLast().map { part in
            part.split { $0.isWhitespace || $0 == "/" }.last ?? ""
        }
        if names.contains(where: { $0.hasSuffix("password") && $0.allSatisfy(\.isLetter) }) { return true }
        let options = parsed(text)
        guard options.contains(where: { Self.options.contains($0.name) }) else { return false }
        // A folder may be named `user=1`.
        return options.count > 1 || options.allSatisfy { !$0.value.contains("/") || $0.value.hasPrefix("/") }
    }

    /// The names and values up to the first part that isn't one: `name = value`, where the value may be in single quotes,
    /// and a backslash escapes a character.
    private static func parsed(_ text: String) -> [(name: String, value: String)] {
        var options: [(name: String, value: String)] = []
        var rest = text[...]
        while let sign = rest.firstIndex(of: "=") {
            var name = rest[..<sign].split(whereSeparator: \.isWhitespace)
            if options.isEmpty { name = name.suffix(1).flatMap { $0.split(separator: "/").suffix(1) } }
            guard name.count == 1 else { break }
            rest = rest[sign...].dropFirst().drop(while: \.isWhitespace)
            let isQuoted = rest.first == "'"
            if isQuoted { rest = rest.dropFirst() }
            var value = ""
            while let character = rest.popFirst(), isQuoted ? character != "'" : !character.isWhitespace {
                value.append(character == "\\" ? rest.popFirst() ?? character : character)
            }
            options.append((String(name[0]), value))
        }
        return options
    }
}
