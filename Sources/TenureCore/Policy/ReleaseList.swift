import Foundation

/// Rule A5: the releases of one platform, and the eras in which each was on sale.
struct ReleaseList {
    /// In the order of the list.
    private let entries: [Entry]
    /// The indexes of entries dated by an instant, and of those dated by a day, each in the order of release. The order
    /// within each list is certain. An instant and a day have a certain order only if they are far enough apart.
    private let instants: [Int]
    private let days: [Int]
    private let beginnings: [Beginning?]

    init(_ releases: [Release], beginnings: [Beginning?]) {
        var entries = Self.entries(of: releases, beginnings: beginnings)
        instants = entries.indices.filter { entries[$0].isDated && entries[$0].day == nil }
            .sorted { entries[$0].isBefore(entries[$1]) }
        days = entries.indices.filter { entries[$0].day != nil }.sorted { entries[$0].isBefore(entries[$1]) }
        // A later entry didn't begin before an earlier one.
        for (place, next) in zip(days, days.dropFirst()) {
            entries[next].earliest = max(entries[next].earliest, entries[place].earliest)
        }
        for (place, next) in zip(days, days.dropFirst()).reversed() {
            entries[place].latest = min(entries[place].latest, entries[next].latest)
        }
        self.entries = entries
        self.beginnings = beginnings
    }

    /// When a release began: an instant from `earliest` (inclusive) to `latest` (exclusive, unless both are the same).
    private struct Entry {
        let version: AppVersion?
        /// The index in the list.
        let position: Int
        let isDated: Bool
        let day: CivilDay?
        var earliest: Date
        var latest: Date

        init(_ release: Release, position: Int) {
            version = release.originalAppVersion
            self.position = position
            switch release.releasedAt {
            case .instant(let date): (isDated, day, earliest, latest) = (true, nil, date, date)
            case .day(let day): (isDated, self.day, earliest, latest) = (true, day, day.firstBeginning, day.lastEnd)
            case .undated: (isDated, day, earliest, latest) = (false, nil, .distantPast, .distantFuture)
            }
        }

        /// The same release, begun at that instant.
        init(_ release: Release, position: Int, begunAt date: Date) {
            version = release.originalAppVersion
            self.position = position
            isDated = true
            if case .day(let day) = release.releasedAt { self.day = day } else { day = nil }
            (earliest, latest) = (date, date)
        }

        /// Whether it certainly came before the other one. Two days compare as days; releases of one day, or of one
        /// instant, follow each other as listed.
        func isBefore(_ other: Entry) -> Bool {
            if let day, let others = other.day {
                return day != others ? day < others : position < other.position
            }
            let isSameInstant = earliest == other.latest && latest == other.earliest
            return isSameInstant ? position < other.position : latest <= other.earliest
        }

        func isSame(as other: Entry) -> Bool { position == other.position }
    }

    /// The version that a boundary names began at the boundary's instant, if it is listed without a date or with a day
    /// that contains this instant in any time zone.
    private static func entries(of releases: [Release], beginnings: [Beginning?]) -> [Entry] {
        var changes: [AppVersion: [Date]] = [:]
        for case .at(let version?, let date?)? in beginnings { changes[version, default: []].append(date) }
        var begun: Set<AppVersion> = []
        return releases.enumerated().map { position, release in
            let entry = Entry(release, position: position)
            guard let version = entry.version else { return entry }
            // Only a version's first entry is its beginning. A second, undated one is a release like any other.
            let isBegun = begun.contains(version)
            if entry.isDated { begun.insert(version) }
            guard let change = changes[version] else { return entry }
            switch release.releasedAt {
            case .instant: return entry
            case .day(let day):
                guard let date = change.first(where: { day.firstBeginning <= $0 && $0 < day.lastEnd }) else {
                    return entry
                }
                return Entry(release, position: position, begunAt: date)
            case .undated:
                guard !isBegun, let date = change.first else { return entry }
                begun.insert(version)
                return Entry(release, position: position, begunAt: date)
            }
        }
    }

    /// Returns the eras of each release by its number in the App Store; a repeated number has the eras of all its
    /// entries. Also returns whether any era's beginning is dated: otherwise the list separates no eras.
    func eras(among happened: EraSet) -> (byVersion: [AppVersion: EraSet], meetBoundary: Bool) {
        let boundaries = self.boundaries
        var result: [AppVersion: EraSet] = [:]
        var next = firstDated(from: entries.startIndex)
        var previous: Entry?
        for entry in entries {
            if entry.isDated {
                previous = entry
                next = firstDated(from: entry.position + 1)
            }
            guard let version = entry.version else { continue }
            // A list with undated releases is oldest first: those were on sale between their dated neighbors.
            let sale =
                entry.isDated
                ? Sale(
                    earliest: entry.earliest, latestEnd: latestEnd(ofSaleFrom: entry), start: entry, next: nil)
                : Sale(
                    earliest: previous?.earliest ?? .distantPast, latestEnd: next?.latest ?? .distantFuture,
                    start: previous, next: next)
            result[version] = (result[version] ?? EraSet()).union(sale.eras(among: happened, boundaries))
        }
        return (result, !boundaries.isEmpty)
    }

    private func firstDated(from position: Int) -> Entry? { entries[position...].first(where: \.isDated) }

    private enum Boundary {
        case instant(Date)
        /// Without an instant a boundary takes its version's first listed date.
        case release(Entry)
    }

    private var boundaries: [(era: Int, Boundary)] {
        var first: [AppVersion: Entry] = [:]
        for entry in entries where entry.isDated {
            guard let version = entry.version else { continue }
            if let known = first[version], known.earliest <= entry.earliest { continue }
            first[version] = entry
        }
        return beginnings.enumerated().compactMap { era, beginning in
            if let date = beginning?.date { return (era, .instant(date)) }
            return beginning?.version.flatMap { first[$0] }.map { (era, .release($0)) }
        }
    }

    /// The time in which a release was on sale.
    private struct Sale {
        /// The earliest instant at which it can have begun, and the latest at which it had certainly ended.
        let earliest: Date
        let latestEnd: Date
        /// The release itself if it is dated, otherwise the nearest dated one before it in the list.
        let start: Entry?
        /// For an undated release: the nearest dated one after it in the list.
        let next: Entry?

        func eras(among happened: EraSet, _ boundaries: [(era: Int, Boundary)]) -> EraSet {
            var first = 0
            var end = EraSet.capacity
            for (era, boundary) in boundaries {
                let (isBehind, isOver) =
                    switch boundary {
                    case .instant(let date): (earliest >= date, latestEnd <= date)
                    case .release(let release): (isBehind(release), isOver(by: release))
                    }
                if isBehind { first = max(first, era) } else if isOver { end = min(end, era) }
            }
            return EraSet(from: first, to: end).intersection(happened)
        }

        /// Whether the sale certainly began with the release or after it.
        private func isBehind(_ release: Entry) -> Bool {
            start.map { $0.isSame(as: release) || release.isBefore($0) } ?? false
        }

        /// Whether its sale had certainly ended when the release came.
        private func isOver(by release: Entry) -> Bool {
            if let next { return next.isSame(as: release) || next.isBefore(release) }
            return start?.isBefore(release) ?? false
        }
    }

    /// When the next dated release had certainly begun. Where it isn't certain which of two came first, neither ends the
    /// other's sale.
    private func latestEnd(ofSaleFrom entry: Entry) -> Date {
        min(latest(ofFirstIn: days, after: entry), latest(ofFirstIn: instants, after: entry))
    }

    private func latest(ofFirstIn places: [Int], after entry: Entry) -> Date {
        var low = 0
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if entry.isBefore(entries[places[middle]]) { high = middle } else { low = middle + 1 }
        }
        return low < places.count ? entries[places[low]].latest : .distantFuture
    }
}
