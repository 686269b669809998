import TenureMint

extension SeededRandom {
    /// From 0 up to `sides`.
    mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(max(1, sides))) }
}
