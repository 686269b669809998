import Foundation

/// Rule A3: the releases of one platform, and the eras in which each was on sale.
struct ReleaseList {
    private let releases: [Release]
    /// Places in `releases`, apart: among instants and among days whoever is certainly earlier than one is so than all
    /// behind it, and in a mixed list that is not so.
    private let instants: [Int]
    private let days: [Int]

    init(_ releases: [Release]) {
        let releases = releases.sorted { $0.releasedAt.earliest < $1.releasedAt.earliest }
        self.releases = releases
        instants = releases.indices.filter { releases[$0].releasedAt.isInstant }
        days = releases.indices.filter { !releases[$0].releasedAt.isInstant }
    }

    /// The eras of each release by the number that the App Store names it by, of both where it stands twice; and whether
    /// any beginning has a moment, without which no release is told from another.
    func eras(firstEra: Int, beginnings: [Beginning?]) -> (byVersion: [AppVersion: EraSet], meetBoundary: Bool) {
        // A beginning without an instant takes its version's listed date, for the version proof only.
        var listed: [AppVersion: Release.Moment] = [:]
        for release in releases {
            guard let version = release.originalAppVersion, listed[version] == nil else { continue }
            listed[version] = release.releasedAt
        }
        let starts = beginnings.map { beginning -> Release.Moment? in
            if let date = beginning?.date { return .instant(date) }
            return beginning?.version.flatMap { listed[$0] }
        }
        var result: [AppVersion: EraSet] = [:]
        for release in releases {
            guard let version = release.originalAppVersion else { continue }
            let next = ends(ofSaleFrom: release.releasedAt)
            var eras = EraSet()
            for era in firstEra..<max(firstEra, min(starts.count, EraSet.capacity))
            where Self.wasOnSale(from: release.releasedAt, until: next, inEra: era, starts: starts) {
                eras.insert(era)
            }
            result[version] = (result[version] ?? EraSet()).union(eras)
        }
        return (result, starts.contains { $0 != nil })
    }

    /// When the next release came: the first that is listed by its instant, and the first by its day, each of which ended
    /// the sale at the latest. Where it is not certain which of two came first, neither ends the other's sale.
    func ends(ofSaleFrom moment: Release.Moment) -> [Release.Moment] {
        [instants, days].compactMap { firstPlace(in: $0, certainlyAfter: moment) }.map { releases[$0].releasedAt }
    }

    private func firstPlace(in places: [Int], certainlyAfter moment: Release.Moment) -> Int? {
        var low = 0
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if moment.isCertainlyEarlier(than: releases[places[middle]].releasedAt) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low < places.count ? places[low] : nil
    }

    /// Whether a release that was on sale from one moment to the first of others (exclusive) can have been on sale in the
    /// era.
    private static func wasOnSale(
        from start: Release.Moment, until ends: [Release.Moment], inEra era: Int, starts: [Release.Moment?]
    ) -> Bool {
        for (index, boundary) in starts.enumerated() {
            guard let boundary else { continue }
            if index <= era {
                // Gone before the era began?
                if !boundary.canBeAtMost(start), ends.contains(where: { !boundary.canBeEarlier(than: $0) }) {
                    return false
                }
            } else if !start.canBeEarlier(than: boundary) {
                // Came only after the era had ended.
                return false
            }
        }
        return true
    }
}

extension Release.Moment {
    /// A day begins first at UTC+14 and ends last at UTC-12.
    var earliest: Date {
        switch self {
        case .instant(let date): date
        case .day(let day): day.midnight.addingTimeInterval(-14 * 3600)
        }
    }

    private var latest: Date {
        switch self {
        case .instant(let date): date
        case .day(let day): day.midnight.addingTimeInterval((24 + 12) * 3600)
        }
    }

    /// Two listed days compare by day; otherwise a day is any of its instants.
    fileprivate func canBeEarlier(than other: Release.Moment) -> Bool {
        if case (.day(let mine), .day(let others)) = (self, other) { return mine < others }
        return earliest < other.latest
    }

    fileprivate var isInstant: Bool {
        if case .instant = self { true } else { false }
    }

    func isCertainlyEarlier(than other: Release.Moment) -> Bool {
        self != other && !other.canBeAtMost(self)
    }

    fileprivate func canBeAtMost(_ other: Release.Moment) -> Bool {
        if case (.day(let mine), .day(let others)) = (self, other) { return mine <= others }
        return earliest <= other.latest
    }
}
