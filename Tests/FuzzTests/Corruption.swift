import TenureMint

/// An endless, repeatable sequence of corrupted copies of valid inputs.
struct Corruption {
    private let seeds: [[UInt8]]
    private let maximumLength: Int
    private var random: SeededRandom

    init(seeds: [[UInt8]], name: String, maximumLength: Int) {
        self.seeds = seeds
        self.maximumLength = maximumLength
        // The seed is the FNV-1a hash of the name.
        random = SeededRandom(seed: name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
    }

    mutating func next() -> [UInt8] {
        var bytes = seeds.randomElement(using: &random) ?? []
        for _ in 0..<Int.random(in: 1...4, using: &random) { corrupt(&bytes) }
        return Array(bytes.prefix(maximumLength))
    }

    private mutating func corrupt(_ bytes: inout [UInt8]) {
        let start = Int.random(in: 0...bytes.count, using: &random)
        let end = min(bytes.count, start + Int.random(in: 0...16, using: &random))
        switch Int.random(in: 0..<7, using: &random) {
        case 0 where start < bytes.count: bytes[start] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1 where start < bytes.count: bytes[start] = Self.special.randomElement(using: &random) ?? 0
        case 2: bytes.removeSubrange(start..<end)
        case 3: bytes.insert(contentsOf: bytes[start..<end], at: start)
        case 4: bytes.insert(contentsOf: Self.tokens.randomElement(using: &random) ?? [], at: start)
        case 5: bytes.removeSubrange(start...)
        default:
            let other = seeds.randomElement(using: &random) ?? []
            bytes.replaceSubrange(start..<end, with: other.dropFirst(min(start, other.count)).prefix(32))
        }
    }

    private static let special: [UInt8] = [0, 0x7F, 0x80, 0xFF, 0x30, 0x22, 0x2E, 0x0A]
    /// Texts that often reveal errors in parsers.
    private static let tokens = [
        "\"", "\\u0000", "\\ud800", "99999999999999999999", "-1", "1e400", "null", "[[[[", "{}", ".", "=", "\r\n",
        "\u{FEFF}", "\u{202E}", "9999-12-31T23:59:60Z", "-9999999999999",
    ].map { Array($0.utf8) }
}
