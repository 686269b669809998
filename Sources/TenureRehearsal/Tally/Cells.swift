/// Counts by place and entitlement, in bounded memory.
/// If there are more places than fit, versions are joined by a hash. Versions with a hash of fewer than `level` zeros
/// join the row “other” of their platform and month. The level follows from the set of all places. So neither the order
/// of customers nor the order of merging makes a difference, and every month stays exact.
package struct Cells: Sendable, Hashable {
    /// By place: one count for each entitlement, in the order of the tally.
    package private(set) var counts: [Place: [Counts]] = [:]
    /// The number of zeros at the end of a version's hash that keep it separate.
    package private(set) var level = 0
    private var apart = 0
    private let capacity: Int

    package static let standardCapacity = 8192

    package init(capacity: Int = Cells.standardCapacity) {
        self.capacity = capacity
    }

    mutating func add(_ place: Place, _ change: (inout [Counts]) -> Void) {
        // Nearly always it is known, or nothing had to be joined yet.
        let key = level == 0 ? place : joined(place)
        let isNew = counts[key] == nil
        change(&counts[key, default: []])
        guard isNew, key.isTellingVersion else { return }
        apart += 1
        shrink()
    }

    package mutating func add(_ other: Cells) {
        if other.level > level { raise(to: other.level) }
        for (place, more) in other.counts {
            let key = joined(place)
            if key.isTellingVersion, counts[key] == nil { apart += 1 }
            counts[key, default: []].add(more)
        }
        shrink()
    }

    private func joined(_ place: Place) -> Place {
        guard place.isTellingVersion, place.stableHash.trailingZeroBitCount < level else { return place }
        return place.ofAnyVersion
    }

    private mutating func shrink() {
        while apart > capacity, level < 64 { raise(to: level + 1) }
    }

    private mutating func raise(to level: Int) {
        self.level = level
        apart = 0
        var kept: [Place: [Counts]] = [:]
        for (place, more) in counts {
            let key = joined(place)
            if key.isTellingVersion { apart += 1 }
            kept[key, default: []].add(more)
        }
        counts = kept
    }
}

extension Place {
    /// Only these can be many: platforms and months are bounded.
    fileprivate var isTellingVersion: Bool {
        if case .version = version { true } else { false }
    }
}

extension [Counts] {
    mutating func add(_ other: [Counts]) {
        while count < other.count { append(Counts()) }
        for index in other.indices { self[index].add(other[index]) }
    }
}
