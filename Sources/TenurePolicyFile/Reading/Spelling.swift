/// Finds what to suggest for a misspelled word.
package enum Spelling {
    /// Returns the most similar known word; nil if no word is similar enough. Longer words may differ in more letters.
    static func nearest(to word: String, among known: [String]) -> String? {
        let written = Array(word.lowercased().unicodeScalars.prefix(64))
        let candidates = known.map { (word: $0, distance: distance(written, Array($0.lowercased().unicodeScalars))) }
        guard let best = candidates.min(by: { $0.distance < $1.distance }) else { return nil }
        let maximumDistance = word.count < 4 ? 1 : word.count < 9 ? 2 : 3
        return best.distance <= maximumDistance ? best.word : nil
    }

    /// Returns ``did you mean `x`?`` if a known word is similar, and otherwise ``write one of `a`, `b` or `c` ``.
    package static func advice(for word: String, among known: [String]) -> String {
        if let nearest = nearest(to: word, among: known) { return "did you mean `\(nearest)`?" }
        return "write \(choice(of: known))"
    }

    /// Returns words as a choice for a message: ``one of `a`, `b` or `c` ``.
    static func choice(of words: [String]) -> String {
        let quoted = words.map { "`\($0)`" }
        guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "nothing" }
        return (quoted.count > 2 ? "one of " : "") + quoted.dropLast().joined(separator: ", ") + " or " + last
    }

    /// The edit distance: the number of letters to insert, remove, replace, or swap with the next one.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        // Each row has the distances from a prefix of `left` to every prefix of `right`.
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, mine) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var best = min(last[column] + (mine == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, mine == right[column - 1], left[row - 1] == other {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
