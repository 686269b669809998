/// Recognizes a list of PostgreSQL options in one text, such as `host=db.example.com user=ada password=…`. Tenure takes a
/// URL instead, and would take the list for the path of a file.
package enum ConnectionString {
    /// The error message for such a list. It doesn't repeat the text, which may contain a password.
    package static let objection =
        "the database is a list of options; write a URL such as `postgresql://…`"

    /// Options of libpq with which a list usually begins.
    private static let options: Set<String> = [
        "host", "hostaddr", "port", "dbname", "user", "password", "passfile", "service", "sslmode", "connect_timeout",
        "application_name", "options", "target_session_attrs",
    ]

    /// Whether a text is such a list. A configuration file may have put its folder before it.
    package static func matches(_ text: String) -> Bool {
        guard !["postgres://", "postgresql://"].contains(where: text.hasPrefix) else { return false }
        let parts = text.lowercased().split(separator: "=", omittingEmptySubsequences: false)
        let names = parts.dropLast().map { part in
            part.split { $0.isWhitespace || $0 == "/" }.last.map(String.init) ?? ""
        }
        if names.contains("password") { return true }
        // The path of a file may begin like that too, because a folder may be named `user=1`.
        guard let first = names.first, options.contains(first) else { return false }
        return !parts[1].contains("/") || parts[1].contains(where: \.isWhitespace)
    }
}
