import TenureMint

extension SeededRandom {
    /// Returns a number from 0 up to, but not including, `sides`.
    mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(max(1, sides))) }
}
