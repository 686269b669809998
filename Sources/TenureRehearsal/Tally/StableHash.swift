/// A hash that is the same in every run and on every machine, unlike Swift's `Hasher`.
///
/// A rehearsal uses it to choose which customers a report shows as examples, and which versions get their own row if
/// there are too many. So the report doesn't depend on the order of the customers. `CustomerKinds` uses it too.
///
/// The algorithm is FNV-1a over words instead of bytes, with a shift after each word, and the final mixing of
/// SplitMix64. The hash isn't cryptographically secure.
struct StableHash: Sendable {
    private var state: UInt64

    init(seed: UInt64 = 0) { state = 0xCBF2_9CE4_8422_2325 ^ seed }

    /// Adds eight bytes.
    private mutating func add(word: UInt64) {
        state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
        state ^= state >> 32
    }

    /// Adds bytes and their number, so that `ab`, `c` and `a`, `bc` have different hashes.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var position = 0
        while position + 8 <= bytes.count {
            add(word: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
            position += 8
        }
        var rest = UInt64(truncatingIfNeeded: bytes.count) << 56
        var shift: UInt64 = 0
        while position < bytes.count {
            rest |= UInt64(bytes[position]) << shift
            position += 1
            shift += 8
        }
        add(word: rest)
    }

    mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    /// The hash of everything that was added.
    var value: UInt64 {
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns the hash of bytes, which is the same as the hash of the text with these bytes.
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = StableHash()
        hash.add(bytes)
        return hash.value
    }

    /// Returns the hash of a string.
    static func of(_ text: String) -> UInt64 {
        var hash = StableHash()
        hash.add(text)
        return hash.value
    }
}
