extension String {
    /// The text with `<redacted>` in place of each recognized credential: the user and password of a URL, an admin key,
    /// a private key in PEM.
    ///
    /// Use it in messages about an operator's input, which may contain a password or a key by mistake.
    package var hidingCredentials: String { hidingPrivateKeys.hidingAdminKeys.hidingURLCredentials }

    private var hidingURLCredentials: String {
        replacing("://") { rest in
            let url = rest.prefix { !$0.isWhitespace && $0 != "`" }
            // A password may hold characters that should have been escaped, so everything up to the last `@` counts.
            let user = url.lastIndex(of: "@")
            let query = url[(user ?? url.startIndex)...]
            let shown = query.replacing("password=") { value in
                ("<redacted>", value.drop { $0 != "&" })
            }
            return ((user == nil ? "" : "<redacted>") + shown, rest[url.endIndex...])
        }
    }

    private var hidingAdminKeys: String {
        replacing("tenure_key_") { rest in
            ("<redacted>", rest.drop { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
        }
    }

    private var hidingPrivateKeys: String {
        replacing("-----BEGIN") { rest in
            // One without its end goes on to the end of the text.
            (" <redacted>", rest.firstPosition(of: "-----END").map { rest[$0.lowerBound...] } ?? "")
        }
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The text in which, after every occurrence of `mark`, `hide` replaced what follows: it gets the rest of the text,
    /// and returns what to show and where to go on.
    fileprivate func replacing(_ mark: String, _ hide: (Substring) -> (shown: String, rest: Substring)) -> String {
        var result = ""
        var rest = self[startIndex...]
        while let found = rest.firstPosition(of: mark) {
            let (shown, next) = hide(rest[found.upperBound...])
            result += rest[..<found.upperBound] + shown
            rest = next
        }
        return result + rest
    }

    fileprivate func firstPosition(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text), let end = index(start, offsetBy: text.count, limitedBy: endIndex) {
                return start..<end
            }
            start = index(after: start)
        }
        return nil
    }
}
