import TenureMint

extension SeededRandom {
    /// From 0 up to `sides`.
    mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(max(1, sides))) }

    mutating func chance(_ percent: Int) -> Bool { roll(100) < percent }

    /// One of the words, with a probability by its weight.
    mutating func pick<Word>(_ words: [(Word, weight: Int)]) -> Word? {
        var left = roll(words.reduce(0) { $0 + $1.weight })
        for (word, weight) in words {
            left -= weight
            if left < 0 { return word }
        }
        return nil
    }
}
