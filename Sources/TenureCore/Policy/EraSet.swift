/// A set of eras (periods with one business model) of one policy, by their indexes in the policy.
package struct EraSet: Sendable, Hashable, Sequence {
    /// The maximum number of eras in a policy.
    package static let capacity = 64

    /// One bit for each era. The lowest bit is the first era.
    private var bits: UInt64

    package init() { bits = 0 }

    /// The eras from `first` (inclusive) to `end` (exclusive).
    package init(from first: Int, to end: Int) { bits = Self.bits(below: end) & ~Self.bits(below: first) }

    private static func bits(below index: Int) -> UInt64 {
        index <= 0 ? 0 : index >= capacity ? .max : (1 << UInt64(index)) - 1
    }

    package mutating func insert(_ era: Int) {
        guard (0..<Self.capacity).contains(era) else { return }
        bits |= 1 << UInt64(era)
    }

    package func contains(_ era: Int) -> Bool { (0..<Self.capacity).contains(era) && bits & (1 << UInt64(era)) != 0 }

    package var isEmpty: Bool { bits == 0 }
    package var count: Int { bits.nonzeroBitCount }
    package var first: Int? { isEmpty ? nil : bits.trailingZeroBitCount }
    package var last: Int? { isEmpty ? nil : 63 - bits.leadingZeroBitCount }

    /// The first era of the set that is later than `era`.
    package func first(after era: Int) -> Int? { subtracting(EraSet(from: 0, to: era + 1)).first }
    /// The last era of the set that is earlier than `era`.
    package func last(before era: Int) -> Int? { intersection(EraSet(from: 0, to: era)).last }

    package func union(_ other: EraSet) -> EraSet { EraSet(bits: bits | other.bits) }
    package func intersection(_ other: EraSet) -> EraSet { EraSet(bits: bits & other.bits) }
    package func subtracting(_ other: EraSet) -> EraSet { EraSet(bits: bits & ~other.bits) }
    package func isDisjoint(with other: EraSet) -> Bool { bits & other.bits == 0 }

    /// Whether every era of this set is earlier than every era of the other set. False if one of the sets is empty.
    func isWhollyEarlier(than other: EraSet) -> Bool {
        guard let last, let first = other.first else { return false }
        return last < first
    }

    private init(bits: UInt64) { self.bits = bits }

    package struct Iterator: IteratorProtocol {
        fileprivate var bits: UInt64

        package mutating func next() -> Int? {
            guard bits != 0 else { return nil }
            // Removes the lowest bit after returning its index.
            defer { bits &= bits - 1 }
            return bits.trailingZeroBitCount
        }
    }

    package func makeIterator() -> Iterator { Iterator(bits: bits) }
}
