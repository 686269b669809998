/// Reads amounts of money as people write them.
enum Money {
    /// Returns an amount such as `4.99`, `5` or `free` in thousandths of the currency's unit. Nil if the text isn't an
    /// amount.
    static func milliunits(_ text: String) -> Int64? {
        if text == "free" { return 0 }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = digits(parts[0], upTo: 9) else { return nil }
        guard parts.count == 2 else { return whole * 1000 }
        guard let fraction = digits(parts[1], upTo: 3) else { return nil }
        // A fraction of one digit counts hundreds of milliunits, of two digits tens, and of three digits single ones.
        return whole * 1000 + fraction * [1, 100, 10, 1][parts[1].utf8.count]
    }

    /// Returns the number that 1 to `count` digits spell; nil for any other text.
    private static func digits(_ text: Substring, upTo count: Int) -> Int64? {
        (1...count).contains(text.utf8.count) && text.hasOnlyDigits ? Int64(text) : nil
    }
}
