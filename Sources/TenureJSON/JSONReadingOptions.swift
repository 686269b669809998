/// Problems that a parser accepts although `JSONValue` doesn't, for a caller that reports them itself.
package struct JSONReadingOptions: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Objects may repeat a name.
    package static let duplicateNames = JSONReadingOptions(rawValue: 1)
    /// Strings may contain `\u0000`.
    package static let nul = JSONReadingOptions(rawValue: 2)
}
