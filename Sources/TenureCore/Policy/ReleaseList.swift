import Foundation

/// Rule A5 of Docs/decision-rules.md: the releases of one platform, and the eras (periods with one business model) in
/// which each was on sale.
///
/// For example, the list has build 119 (April 20, 2015), 120 (June 10) and 121 (July 15), and the free era begins with
/// build 120 on June 10 at 18:00 UTC. Build 119 was on sale until build 120 came, so it proves the era before. Build
/// 120 takes the exact time from the beginning of the era, and proves the free era.
///
/// A day is less exact than an instant: June 10 can be any time from 00:00 in UTC+14 to 24:00 in UTC-12. So each
/// release has an earliest and a latest time. It may have been on sale in every era that these times don't exclude.
struct ReleaseList {
    /// The releases in the order of the list.
    private let entries: [Entry]
    /// The indexes of the dated entries, in one array or two. Within an array, the order of release is certain.
    /// - If the order of the list is certain (see `Entry.orderIsCertain`), one array has all dated entries.
    /// - Otherwise, one array has the entries with a day in the list. The other array has the entries with an instant:
    ///   in the list or, if the list has no date, in an era's beginning. A day and an instant are never in one array,
    ///   because their order is certain only if they are far enough apart.
    private let sequences: [[Int]]
    /// Where each era begins on the platform, by the era's index in the policy. Nil if the era has no beginning on this
    /// platform.
    private let beginnings: [Beginning?]

    init(_ releases: [Release], beginnings: [Beginning?]) {
        var entries = Self.entries(of: releases, beginnings: beginnings)
        let dated = entries.indices.filter { entries[$0].isDated }
        // `Policy` demands that a list with undated releases has the oldest release first.
        if releases.contains(where: { $0.releasedAt == .undated }), Self.isPossibleOrder(dated.map { entries[$0] }) {
            for index in entries.indices { entries[index].orderIsCertain = true }
            sequences = [dated]
        } else {
            sequences = [dated.filter { entries[$0].day != nil }, dated.filter { entries[$0].day == nil }].map {
                $0.sorted { entries[$0].isBefore(entries[$1]) }
            }
        }
        // Use the order to narrow the time of each entry. If an earlier entry has an exact time, a later entry of the
        // same day can't have begun before that time.
        for sequence in sequences {
            for (index, next) in zip(sequence, sequence.dropFirst()) {
                entries[next].earliest = max(entries[next].earliest, entries[index].earliest)
            }
            for (index, next) in zip(sequence, sequence.dropFirst()).reversed() {
                entries[index].latest = min(entries[index].latest, entries[next].latest)
            }
        }
        self.entries = entries
        self.beginnings = beginnings
    }

    /// Whether the releases can have gone on sale in this order. They can't if an entry has the date of an era's
    /// beginning, and the list contradicts that date.
    private static func isPossibleOrder(_ entries: [Entry]) -> Bool {
        var earliest = Date.distantPast
        for entry in entries {
            earliest = max(earliest, entry.earliest)
            let isExact = entry.earliest == entry.latest
            guard earliest < entry.latest || (isExact && earliest == entry.latest) else { return false }
        }
        return true
    }

    /// A release with the time in which its sale began: from `earliest` (inclusive) to `latest` (exclusive, unless both
    /// are the same).
    private struct Entry {
        /// The release's `originalAppVersion`: its version on macOS, elsewhere its build.
        let version: AppVersion?
        /// The index in the list.
        let position: Int
        /// Whether the list or the beginning of an era says when the sale began.
        let isDated: Bool
        /// The listed day; nil if the list has an instant or no date.
        let day: CivilDay?
        var earliest: Date
        var latest: Date
        /// Whether the order of the list decides which release came first. It does if some release of the list has no
        /// date, and no date contradicts the order.
        var orderIsCertain = false

        /// Creates the entry of a release that went on sale at `date`. If `date` is nil, the list says when.
        init(_ release: Release, position: Int, begunAt date: Date? = nil) {
            version = release.originalAppVersion
            self.position = position
            switch release.releasedAt {
            case .instant(let date): (isDated, day, earliest, latest) = (true, nil, date, date)
            case .day(let day): (isDated, self.day, earliest, latest) = (true, day, day.firstBeginning, day.lastEnd)
            case .undated: (isDated, day, earliest, latest) = (date != nil, nil, .distantPast, .distantFuture)
            }
            if let date { (earliest, latest) = (date, date) }
        }

        /// Whether this release certainly came before the other release. Two days are compared by date, not by instant.
        /// Releases of the same day or instant have the order of the list.
        func isBefore(_ other: Entry) -> Bool {
            if orderIsCertain { return position < other.position }
            if let day, let others = other.day { return day != others ? day < others : position < other.position }
            let isSameInstant = earliest == other.latest && latest == other.earliest
            return isSameInstant ? position < other.position : latest <= other.earliest
        }

        /// Whether both entries are the same release of the list.
        func isSame(as other: Entry) -> Bool { position == other.position }
    }

    /// Creates the entries of all releases.
    ///
    /// An era's beginning may have a version and a date. If the list has that version without a date, or with a day
    /// that contains the date in some time zone, the release began at that date.
    private static func entries(of releases: [Release], beginnings: [Beginning?]) -> [Entry] {
        var beginningDates: [AppVersion: [Date]] = [:]
        for case .at(let version?, let date?)? in beginnings { beginningDates[version, default: []].append(date) }
        var versionsWithDate: Set<AppVersion> = []
        var result: [Entry] = []
        for (position, release) in releases.enumerated() {
            var entry = Entry(release, position: position)
            if let version = entry.version, let dates = beginningDates[version] {
                let date: Date? =
                    switch release.releasedAt {
                    case .instant: nil
                    case .day(let day): dates.first { day.firstBeginning <= $0 && $0 < day.lastEnd }
                    // If no earlier entry of the version has a date, an undated entry takes the first that isn't before
                    // the last dated entry, or else the first, which `isPossibleOrder` then finds impossible.
                    case .undated where !versionsWithDate.contains(version):
                        dates.first { $0 >= (result.last(where: \.isDated)?.earliest ?? .distantPast) } ?? dates.first
                    case .undated: nil
                    }
                if let date { entry = Entry(release, position: position, begunAt: date) }
            }
            if entry.isDated, let version = entry.version { versionsWithDate.insert(version) }
            result.append(entry)
        }
        return result
    }

    /// Returns the eras in which each version was on sale. A version with several entries has the eras of all of them.
    ///
    /// Also returns whether at least one era's beginning has a date, in the policy or from the list. If no beginning
    /// has a date, the list can't separate eras.
    ///
    /// - Parameter happened: the eras that happened on the platform.
    func eras(among happened: EraSet) -> (byVersion: [AppVersion: EraSet], hasBoundary: Bool) {
        let boundaries = self.boundaries
        var result: [AppVersion: EraSet] = [:]
        // The nearest dated entries before and after the current entry, for entries without a date.
        var next = firstDated(from: entries.startIndex)
        var previous: Entry?
        for entry in entries {
            if entry.isDated {
                previous = entry
                next = firstDated(from: entry.position + 1)
            }
            guard let version = entry.version else { continue }
            // A list with undated releases has the oldest release first. An undated release was on sale between the
            // dated releases before and after it.
            let sale =
                entry.isDated
                ? Sale(earliest: entry.earliest, latestEnd: latestEnd(ofSaleFrom: entry), start: entry, next: nil)
                : Sale(
                    earliest: previous?.earliest ?? .distantPast, latestEnd: next?.latest ?? .distantFuture,
                    start: previous, next: next)
            result[version] = (result[version] ?? EraSet()).union(sale.eras(among: happened, boundaries))
        }
        return (result, !boundaries.isEmpty)
    }

    /// Returns the first dated entry at this position of the list or after it.
    private func firstDated(from position: Int) -> Entry? { entries[position...].first(where: \.isDated) }

    /// The time at which an era begins.
    private enum Boundary {
        case instant(Date)
        /// The beginning has a version but no date, so the era begins at the first listed date of that version.
        case release(Entry)
    }

    /// The boundaries of all eras with a beginning that has a date, or a version with a date in the list.
    private var boundaries: [(era: Int, boundary: Boundary)] {
        // The first dated entry of each version.
        let dated = entries.filter(\.isDated).compactMap { entry in entry.version.map { ($0, entry) } }
        let first = Dictionary(dated, uniquingKeysWith: { $1.earliest < $0.earliest ? $1 : $0 })
        return beginnings.enumerated().compactMap { era, beginning in
            if let date = beginning?.date { return (era, .instant(date)) }
            return beginning?.version.flatMap { first[$0] }.map { (era, .release($0)) }
        }
    }

    /// The time in which a release was on sale, as far as the list says.
    private struct Sale {
        /// The earliest date at which the sale can have begun.
        let earliest: Date
        /// The date by which the sale had certainly ended.
        let latestEnd: Date
        /// The release itself if it is dated, otherwise the nearest dated release before it in the list.
        let start: Entry?
        /// For an undated release: the nearest dated release after it in the list.
        let next: Entry?

        /// Returns the eras that happened and that no boundary excludes. If the sale began at or after a boundary, the
        /// sale was in no era before the boundary. If the sale ended at or before a boundary, it was in no era after
        /// the boundary.
        func eras(among happened: EraSet, _ boundaries: [(era: Int, boundary: Boundary)]) -> EraSet {
            var first = 0
            var end = EraSet.capacity
            for (era, boundary) in boundaries {
                let (beganAfter, endedBefore) =
                    switch boundary {
                    case .instant(let date): (earliest >= date, latestEnd <= date)
                    case .release(let release): (began(notBefore: release), ended(before: release))
                    }
                if beganAfter { first = max(first, era) } else if endedBefore { end = min(end, era) }
            }
            return EraSet(from: first, to: end).intersection(happened)
        }

        /// Whether this sale certainly began at or after the beginning of the other release.
        private func began(notBefore release: Entry) -> Bool {
            start.map { $0.isSame(as: release) || release.isBefore($0) } ?? false
        }

        /// Whether this sale had certainly ended when the other release began.
        private func ended(before release: Entry) -> Bool {
            if let next { return next.isSame(as: release) || next.isBefore(release) }
            return start?.isBefore(release) ?? false
        }
    }

    /// Returns the date by which the next dated release had certainly begun. If it isn't certain which of two releases
    /// came first, neither ends the other's sale.
    private func latestEnd(ofSaleFrom entry: Entry) -> Date {
        sequences.map { latest(ofFirstIn: $0, after: entry) }.min() ?? .distantFuture
    }

    /// Returns the latest time at which the first of these entries that certainly came after `entry` can have begun. A
    /// binary search finds that first entry.
    private func latest(ofFirstIn indexes: [Int], after entry: Entry) -> Date {
        let first = indexes.partitioningIndex { entry.isBefore(entries[$0]) }
        return first < indexes.count ? entries[indexes[first]].latest : .distantFuture
    }
}
