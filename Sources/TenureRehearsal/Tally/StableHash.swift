/// A hash that is the same in every run and on every machine, unlike Swift's own: what is chosen by it never depends
/// on the order in which customers came.
///
/// FNV-1a with the finish of SplitMix64, whose bits are then evenly spread. Not for secrets.
package struct StableHash: Sendable {
    private var state: UInt64

    package init(seed: UInt64 = 0) {
        state = 0xCBF2_9CE4_8422_2325 ^ seed
    }

    package mutating func add(_ byte: UInt8) {
        state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }

    package mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { add(byte) }
    }

    package mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { for byte in $0 { add(byte) } }
        // Keeps two ways of cutting the same letters apart.
        add(0xFF)
    }

    package var value: UInt64 {
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// The same as of the text that these bytes are.
    package static func of(utf8 bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = StableHash()
        for byte in bytes { hash.add(byte) }
        hash.add(0xFF)
        return hash.value
    }

    package static func of(_ text: String) -> UInt64 {
        var hash = StableHash()
        hash.add(text)
        return hash.value
    }
}
