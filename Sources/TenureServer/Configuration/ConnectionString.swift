/// Recognizes a list of PostgreSQL options in one string, such as `host=db.example.com user=ada password=…`. Tenure
/// accepts only a URL, and would read the list as the path of a file.
package enum ConnectionString {
    /// The error message for a list of options. The message doesn't repeat the text, which may contain a password.
    package static let objection =
        "the database is given as a list of PostgreSQL options; write a URL such as `postgresql://…`"

    /// Names of options of libpq, PostgreSQL's client library. A list usually contains at least one of them.
    private static let options: Set<String> = [
        "host", "hostaddr", "port", "dbname", "user", "passfile", "service", "sslmode", "connect_timeout",
        "application_name", "options", "target_session_attrs",
    ]

    /// Whether a string is a list of options. If it is from a configuration file, the file's folder may be in front of
    /// the list, as in front of any relative path.
    package static func matches(_ text: String) -> Bool {
        guard !["postgres://", "postgresql://"].contains(where: text.hasPrefix) else { return false }
        // A list that libpq can't read, such as a list without a closing quote, matches too.
        let parts = text.lowercased().split(separator: "=", omittingEmptySubsequences: false)
        // The last word before each `=` may be the name of an option.
        let words = parts.dropLast().map { $0.split(whereSeparator: \.isWhitespace).last ?? "" }
        // The first word may be a folder with the name behind it, such as `/etc/tenure/host`.
        let lastNames = words.map { $0.split(separator: "/").last ?? "" }
        // A name such as `password` or `sslpassword` is enough, because messages must not repeat a password.
        if lastNames.contains(where: { $0.hasSuffix("password") && $0.allSatisfy(\.isLetter) }) { return true }
        // Any other word with a slash is part of a path.
        let names = lastNames.prefix(1) + words.dropFirst().filter { !$0.contains("/") }
        guard names.contains(where: { options.contains(String($0)) }) else { return false }
        // A string with only one name may be a path with a folder such as `user=1`. Then the value has a slash, but
        // doesn't begin with one.
        let value = parts[1].drop { $0.isWhitespace || $0 == "'" }
        return names.count > 1 || !value.contains("/") || value.hasPrefix("/")
    }
}
