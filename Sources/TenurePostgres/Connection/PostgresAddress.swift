import CLibPQ
import Foundation
import TenureCore
package import TenureStore

/// The address of a database: a URL for libpq, PostgreSQL's C library, with any of libpq's options and with options for
/// Tenure.
///
/// The options for Tenure are `schema` (default `tenure`), `connections` (the maximum, default 16) and
/// `allow_fsync_off` (default `false`).
package struct PostgresAddress: Sendable, Hashable {
    /// The PostgreSQL schema with Tenure's tables.
    package let schema: String
    /// The maximum number of connections for transactions. Looking up customers takes additional connections: two for
    /// one database, and one more for each further database on the server, at most eight.
    let connections: Int
    /// Whether the server may run with `fsync = off`, so that a crash of its machine may lose acknowledged
    /// transactions.
    let allowsFsyncOff: Bool
    /// The server and the database, without secrets, such as `postgres://db.example.com:5432/tenure`.
    package let description: String
    /// Seconds until an attempt to connect to one host counts as failed: from 2 to 20, by default 3.
    let connectTimeout: Int
    /// The servers that the URL names, in the order of the URL.
    let hosts: [PostgresHostName]
    /// The URL for libpq, which may contain a password.
    let url: Secret<String>

    /// Server, database and schema, without secrets.
    package var fullName: String { "\(description)?schema=\(schema)" }

    /// Whether a string begins like the URL of a PostgreSQL database.
    package static func isPostgres(_ url: String) -> Bool {
        url.hasPrefix("postgres://") || url.hasPrefix("postgresql://")
    }

    /// Throws `StoreError.unusable`, with a message that repeats no password.
    package init(_ url: String) throws(StoreError) {
        let (address, query) = Self.splitQuery(of: url)
        // The address as error messages may show it.
        let shown = Self.mayHoldSecret(url) ? "postgres://…" : address
        guard Self.isPostgres(url)
        else { throw .unusable(database: shown, detail: "it isn't a URL that begins with `postgres://`") }
        var tenureOptions: [String: String] = [:]
        var libpqPairs: [Substring] = []
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if let name = parts.first.map(String.init), Self.tenureOptionNames.contains(name) {
                tenureOptions[name] = parts.count == 2 ? String(parts[1]) : ""
            } else {
                libpqPairs.append(pair)
            }
        }
        let text = libpqPairs.isEmpty ? address : address + "?" + libpqPairs.joined(separator: "&")
        self.url = Secret(text)
        let options = try Self.options(text, shown: shown)
        description = Self.description(of: options)
        connectTimeout = options["connect_timeout"].flatMap { Int($0) }.map { max(2, min($0, 20)) } ?? 3
        hosts = try PostgresHostName.all(in: options, database: description)

        schema = tenureOptions["schema"] ?? "tenure"
        guard Self.isSchema(schema) else {
            throw .unusable(
                database: description,
                detail: "`schema=\(schema)` isn't a valid name: use 1 to 63 letters, digits and `_`, and not `pg_…`")
        }
        // Text that isn't a number becomes 0, which isn't allowed either.
        connections = tenureOptions["connections"].map { Int($0) ?? 0 } ?? 16
        guard (1...500).contains(connections) else {
            throw .unusable(
                database: description,
                detail: "`connections=\(tenureOptions["connections"] ?? "")` isn't a number from 1 to 500")
        }
        switch tenureOptions["allow_fsync_off"] {
        case nil, "false": allowsFsyncOff = false
        case "true": allowsFsyncOff = true
        case let other?:
            throw .unusable(database: description, detail: "`allow_fsync_off=\(other)` is neither `true` nor `false`")
        }
    }

    /// The options in a URL that libpq doesn't know.
    private static let tenureOptionNames: Set<String> = ["schema", "connections", "allow_fsync_off"]

    /// Whether a string is a valid name of a schema. PostgreSQL reserves names that begin with `pg_`.
    private static func isSchema(_ name: String) -> Bool {
        (1...63).contains(name.utf8.count) && !name.hasPrefix("pg_")
            && name.allSatisfy { $0 == "_" || ($0.isASCII && ($0.isLetter || $0.isNumber)) }
    }

    /// Whether a PostgreSQL URL contains a password, as far as it can be parsed.
    package static func holdsPassword(_ url: String) -> Bool {
        guard isPostgres(url), let scheme = url.firstRange(of: "://") else { return false }
        if url.lowercased().contains("password=") { return true }
        let rest = url[scheme.upperBound...]
        guard let at = rest.lastIndex(of: "@") else { return false }
        return rest[..<at].contains(":")
    }

    // MARK: Parsing without showing a password

    /// Splits the URL into the part before its query, and its query. A password may contain an unescaped `?`.
    private static func splitQuery(of url: String) -> (address: String, query: String) {
        let afterUser = url.lastIndex(of: "@") ?? url.startIndex
        // If no `?` follows the last `@`, that `@` is in the query, so the first `?` begins the query.
        guard let mark = url[afterUser...].firstIndex(of: "?") ?? url.firstIndex(of: "?") else { return (url, "") }
        return (String(url[..<mark]), String(url[url.index(after: mark)...]))
    }

    /// Whether the URL may contain a secret. In an invalid URL, the position of a password is unknown.
    private static func mayHoldSecret(_ url: String) -> Bool {
        url.contains("@") || url.lowercased().contains("password")
    }

    /// Returns the options that libpq reads in the URL, by name. libpq's error message may repeat a password, so the
    /// error contains that message only if the URL can't have a password.
    ///
    /// - Parameter shown: the address as error messages may show it.
    private static func options(_ url: String, shown: String) throws(StoreError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        defer { PQfreemem(message) }
        guard let options = PQconninfoParse(url, &message) else {
            var detail = "the URL is invalid; check its options, and that `@ : / ? #` in a password are escaped"
            if !mayHoldSecret(url), let message { detail = String(cString: message).onOneLine }
            throw .unusable(database: shown, detail: detail)
        }
        defer { PQconninfoFree(options) }
        let found = values(options)
        // libpq ends the user and password at the first `@`. If the password contains an `@`, the rest isn't a host.
        if [found["host"], found["port"], found["dbname"]].contains(where: { $0?.contains("@") == true }) {
            throw .unusable(database: "postgres://…", detail: "the URL is invalid; write `@` in a password as `%40`")
        }
        return found
    }

    /// Copies a list of options out of libpq's memory, by name. Leaves out options without a value.
    static func values(_ options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        var found: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { found[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return found
    }

    private static func description(of options: [String: String]) -> String {
        let host = options["host"] ?? options["hostaddr"] ?? "localhost"
        let port = options["port"].map { ":" + $0 } ?? ""
        return "postgres://\(host)\(port)/\(options["dbname"] ?? options["user"] ?? "")"
    }
}

extension String {
    /// The lines of libpq's message as one line. libpq indents all lines but the first with a tab.
    var onOneLine: String {
        split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            .joined(separator: "; ")
    }
}
