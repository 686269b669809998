extension String {
    /// The text with `<redacted>` in place of each recognized credential: the user and password of a URL, a
    /// `password=`, an admin key, a webhook's secret, and a private key in PEM. Mistyped URLs are recognized, too.
    ///
    /// Use this property in messages about an operator's input, which may contain a password or a key by mistake.
    package var hidingCredentials: String {
        let withoutKeys = hidingPrivateKeys.hidingToken(after: "tenure_key_", symbols: "-_")
        let withoutSecrets = withoutKeys.hidingToken(after: "whsec_", symbols: "+/=-_")
        return withoutSecrets.hidingURLCredentials.hidingUserInfo.hidingPasswords
    }

    /// Hides the value after `password =`, with or without quotes, as PostgreSQL's library libpq reads it. Without
    /// quotes, the value ends at white space, a backtick, or an `&` before the next parameter of a URL.
    private var hidingPasswords: String {
        replacing("password", ignoringCase: true) { rest in
            let fromSign = rest.drop(while: \.isWhitespace)
            guard fromSign.first == "=" else { return ("", rest) }
            let value = fromSign.dropFirst().drop(while: \.isWhitespace)
            let quote = value.first.flatMap { "'\"".contains($0) ? $0 : nil }
            var isEscaped = false
            var isQuoted = quote != nil
            let end = value.dropFirst(isQuoted ? 1 : 0).indices.first { index in
                let character = value[index]
                defer { isEscaped = character == "\\" && !isEscaped }
                if isEscaped { return false }
                if isQuoted {
                    isQuoted = character != quote
                    return false
                }
                return character.isWhitespace || character == "`" || value[index...].beginsParameter
            }
            let next = value[(end ?? value.endIndex)...]
            let isEmpty = value.startIndex == next.startIndex
            return (String(rest[..<value.startIndex]) + (isEmpty ? "" : "<redacted>"), next)
        }
    }

    /// Hides the user and the password of a URL, and the value of `password=` in the URL.
    private var hidingURLCredentials: String {
        replacing("://") { rest in
            let url = rest.prefix { !$0.isWhitespace && $0 != "`" }
            // A password may contain characters that should have been escaped, so hide everything up to the last `@`.
            if let user = url.lastIndex(of: "@") { return ("<redacted>", rest[user...]) }
            // A password may also contain white space. After `host:` there is a port, not a password.
            let afterColon = url.drop { $0 != ":" }.dropFirst().prefix { $0 != "/" }
            let line = rest.prefix { !$0.isNewline }
            if afterColon.contains(where: { !$0.isNumber }), let user = line.lastIndex(of: "@") {
                return ("<redacted>", rest[user...])
            }
            return (String(url), rest[url.endIndex...])
        }
    }

    /// Hides `user:password` before an `@` in each word, as in a URL without a valid scheme.
    private var hidingUserInfo: String {
        var result = ""
        var rest = self[...]
        while let at = rest.utf8.firstIndex(of: UInt8(ascii: "@")) {
            let start = rest[..<at].startOfUserInfo
            let word = rest[at...].utf8.prefix { !Self.wordEnds.contains($0) }
            let last = word.lastIndex(of: UInt8(ascii: "@")) ?? at
            let hides = rest[start..<last].utf8.contains(UInt8(ascii: ":"))
            result += rest[..<(hides ? start : last)] + (hides ? "<redacted>@" : "@")
            rest = rest[rest.utf8.index(after: last)...]
        }
        return result + rest
    }

    /// The characters that separate words.
    fileprivate static let wordEnds = Set(" \t\r\n`\"".utf8)

    /// Hides the rest of an admin key or a webhook's secret: ASCII letters, digits and `symbols`.
    private func hidingToken(after mark: String, symbols: String) -> String {
        replacing(mark) { rest in
            ("<redacted>", rest.drop { $0.isASCII && ($0.isLetter || $0.isNumber || symbols.contains($0)) })
        }
    }

    private var hidingPrivateKeys: String {
        replacing("-----BEGIN") { rest in
            // If a key has no end line, hide the rest of the text.
            (" <redacted>", rest.firstPosition(of: "-----END").map { rest[$0.lowerBound...] } ?? "")
        }
    }
}

extension Substring {
    /// Where the last word begins, or its part after `://`.
    fileprivate var startOfUserInfo: Index {
        let word = utf8.lastIndex(where: String.wordEnds.contains).map(utf8.index(after:)) ?? startIndex
        return self[word...].firstPosition(of: "://")?.upperBound ?? word
    }

    /// Whether the text begins with the next parameter of a URL's query, such as `&sslmode=require`.
    fileprivate var beginsParameter: Bool {
        guard first == "&" else { return false }
        return dropFirst().drop { $0.isASCII && ($0.isLetter || $0 == "_") }.first == "="
    }
}

extension StringProtocol where SubSequence == Substring {
    /// Returns the text with replacements after each occurrence of `mark`, which is ASCII.
    ///
    /// - Parameter hide: gets the text after `mark`. Returns the text to show instead, and the rest, in which the
    ///   search continues.
    fileprivate func replacing(
        _ mark: String, ignoringCase: Bool = false, _ hide: (Substring) -> (shown: String, rest: Substring)
    ) -> String {
        var result = ""
        var rest = self[startIndex...]
        while let found = rest.firstPosition(of: mark, ignoringCase: ignoringCase) {
            let (shown, next) = hide(rest[found.upperBound...])
            // If the credential was hidden before, `next` already begins with `<redacted>`. Don't add it again.
            result += rest[..<found.upperBound] + (next.hasPrefix(shown) ? "" : shown)
            rest = next
        }
        return result + rest
    }

    /// Returns the range of the first occurrence of `mark`. Nil if `mark` doesn't occur. Compares bytes, because the
    /// text may be a large file.
    fileprivate func firstPosition(of mark: String, ignoringCase: Bool = false) -> Range<Index>? {
        // This bit is the only difference between an upper-case letter and its lower-case letter in ASCII.
        let caseBit: UInt8 = ignoringCase ? 0x20 : 0
        func matches(_ byte: UInt8, _ other: UInt8) -> Bool { byte | caseBit == other | caseBit }
        let bytes = utf8
        guard let first = mark.utf8.first else { return nil }
        var start = bytes.startIndex
        while let found = bytes[start...].firstIndex(where: { matches($0, first) }) {
            if bytes[found...].starts(with: mark.utf8, by: matches) {
                return found..<bytes.index(found, offsetBy: mark.utf8.count)
            }
            start = bytes.index(after: found)
        }
        return nil
    }
}
