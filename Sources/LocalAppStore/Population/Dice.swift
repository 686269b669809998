/// SplitMix64: the same numbers for the same seed, on every machine.
package struct Dice: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var number = state
        number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
        return number ^ (number >> 31)
    }

    /// From 0 up to `sides`.
    package mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(max(1, sides))) }

    package mutating func chance(_ percent: Int) -> Bool { roll(100) < percent }

    /// One of the words, each as often as its weight says.
    package mutating func pick<Word>(_ words: [(Word, weight: Int)]) -> Word? {
        var left = roll(words.reduce(0) { $0 + $1.weight })
        for (word, weight) in words {
            left -= weight
            if left < 0 { return word }
        }
        return nil
    }
}
