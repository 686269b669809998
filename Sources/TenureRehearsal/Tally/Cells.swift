/// Counts of customers by place and entitlement, with limited memory. A place is the platform, version and month of
/// getting the app.
///
/// If there are too many places, some of them are counted together in the row “other” of their platform and month.
/// These are the places with a hash that ends with fewer than `level` zero bits. The level depends only on the set of
/// all places. So the result doesn't depend on the order of customers or of merging, and the counts of each month stay
/// exact.
struct Cells: Sendable, Hashable {
    /// The counts of each place: one for each entitlement, in the order of the tally.
    private(set) var counts: [Place: [Counts]] = [:]
    /// A version is counted separately if the hash of its place has at least this many zero bits at its end.
    private(set) var level = 0
    /// The number of places in `counts` with a version that is counted separately.
    private var separateVersions = 0
    /// The maximum of `separateVersions`.
    private let capacity: Int

    /// The capacity of all rehearsals. Tests use lower ones.
    static let standardCapacity = 8192

    init(capacity: Int = Cells.standardCapacity) { self.capacity = capacity }

    /// Changes the counts of a place.
    mutating func add(_ place: Place, _ change: (inout [Counts]) -> Void) {
        // Usually, the place already exists, or all versions are still counted separately.
        let key = level == 0 ? place : countedPlace(place)
        let isNew = counts[key] == nil
        change(&counts[key, default: []])
        guard isNew, key.hasVersion else { return }
        separateVersions += 1
        shrink()
    }

    mutating func add(_ other: Cells) {
        if other.level > level { raise(to: other.level) }
        for (place, more) in other.counts {
            let key = countedPlace(place)
            if key.hasVersion, counts[key] == nil { separateVersions += 1 }
            counts[key, default: []].add(more)
        }
        shrink()
    }

    /// Returns the place under which `place` is counted: itself, or the row “other” of its platform and month.
    private func countedPlace(_ place: Place) -> Place {
        guard place.hasVersion, place.stableHash.trailingZeroBitCount < level else { return place }
        return place.ofAnyVersion
    }

    /// Counts more versions together until `capacity` isn't exceeded.
    private mutating func shrink() {
        while separateVersions > capacity, level < 64 { raise(to: level + 1) }
    }

    /// Sets the level, and joins the places that are no longer counted separately.
    private mutating func raise(to level: Int) {
        self.level = level
        separateVersions = 0
        var kept: [Place: [Counts]] = [:]
        for (place, more) in counts {
            let key = countedPlace(place)
            if key.hasVersion { separateVersions += 1 }
            kept[key, default: []].add(more)
        }
        counts = kept
    }

    /// The places, the place with the most customers first. Places with equal numbers have the order of their names.
    var sorted: [(place: Place, counts: [Counts])] {
        counts.map { ($0.key, $0.value) }.sorted { left, right in
            let (leftTotal, rightTotal) = (left.counts.first?.total ?? 0, right.counts.first?.total ?? 0)
            return leftTotal != rightTotal ? leftTotal > rightTotal : left.place.precedes(right.place)
        }
    }
}

extension [Counts] {
    /// Adds the counts at the same indexes.
    mutating func add(_ other: [Counts]) {
        while count < other.count { append(Counts()) }
        for index in other.indices { self[index].add(other[index]) }
    }
}
