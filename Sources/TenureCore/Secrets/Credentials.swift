extension String {
    /// The text with `<redacted>` in place of each recognized credential: the user and password of a URL, a `password=`,
    /// an admin key, a webhook's secret, and a private key in PEM.
    ///
    /// Use it in messages about an operator's input, which may contain a password or a key by mistake.
    package var hidingCredentials: String {
        hidingPrivateKeys.hidingAdminKeys.hidingWebhookSecrets.hidingURLCredentials.hidingPasswords
    }

    /// Hides `password=…` up to the next white space, `&` or backtick.
    private var hidingPasswords: String {
        replacing("password=") { rest in
            let value = rest.prefix { !$0.isWhitespace && $0 != "&" && $0 != "`" }
            return (value.isEmpty ? "" : "<redacted>", rest[value.endIndex...])
        }
    }

    /// Hides the user and the password of a URL, and the value of `password=` in it.
    private var hidingURLCredentials: String {
        replacing("://") { rest in
            let url = rest.prefix { !$0.isWhitespace && $0 != "`" }
            // A password may contain characters that should have been escaped, so hide everything up to the last `@`.
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

    private var hidingWebhookSecrets: String {
        replacing("whsec_") { rest in
            ("<redacted>", rest.drop { $0.isASCII && ($0.isLetter || $0.isNumber || "+/=-_".contains($0)) })
        }
    }

    private var hidingPrivateKeys: String {
        replacing("-----BEGIN") { rest in
            // If a key has no end line, hide the rest of the text.
            (" <redacted>", rest.firstPosition(of: "-----END").map { rest[$0.lowerBound...] } ?? "")
        }
    }
}

extension StringProtocol where SubSequence == Substring {
    /// Returns the text with replacements after each occurrence of `mark`.
    ///
    /// - Parameter hide: gets the text after `mark`. Returns the text to show instead, and the rest, in which the
    ///   search continues.
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

    /// Returns the range of the first occurrence of `text`; nil without one.
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
