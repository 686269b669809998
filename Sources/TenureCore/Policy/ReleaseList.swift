import Foundation

/// Rule A3: the releases of one platform, and the eras in which each was on sale.
struct ReleaseList {
    private let releases: [Release]

    init(_ releases: [Release]) {
        self.releases = releases.sorted { $0.releasedAt.earliest < $1.releasedAt.earliest }
    }

    /// The eras of each release by the number that the App Store names it by, of both where it stands twice; and whether
    /// any beginning has a moment, without which no release is told from another.
    func eras(firstEra: Int, beginnings: [Beginning?]) -> (byVersion: [AppVersion: EraSet], meetBoundary: Bool) {
        // A beginning without an instant takes its version's listed date, for the version proof only.
        let starts = beginnings.map { beginning -> Release.Moment? in
            if let date = beginning?.date { return .instant(date) }
            guard let version = beginning?.version else { return nil }
            return releases.first { $0.originalAppVersion == version }?.releasedAt
        }
        var result: [AppVersion: EraSet] = [:]
        for release in releases {
            guard let version = release.originalAppVersion else { continue }
            // Where it is not certain which of two came first, neither ends the other's sale.
            let next = releases.lazy.map(\.releasedAt).first { release.releasedAt.isCertainlyEarlier(than: $0) }
            var eras = EraSet()
            for era in firstEra..<max(firstEra, min(starts.count, EraSet.capacity))
            where Self.wasOnSale(from: release.releasedAt, until: next, inEra: era, starts: starts) {
                eras.insert(era)
            }
            result[version] = (result[version] ?? EraSet()).union(eras)
        }
        return (result, starts.contains { $0 != nil })
    }

    /// Whether a release that was on sale from one moment to another (exclusive) can have been on sale in the era.
    private static func wasOnSale(
        from start: Release.Moment, until end: Release.Moment?, inEra era: Int, starts: [Release.Moment?]
    ) -> Bool {
        for (index, boundary) in starts.enumerated() {
            guard let boundary else { continue }
            if index <= era {
                // Gone before the era began?
                if let end, !boundary.canBeEarlier(than: end), !boundary.canBeAtMost(start) { return false }
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

    fileprivate func isCertainlyEarlier(than other: Release.Moment) -> Bool {
        self != other && !other.canBeAtMost(self)
    }

    fileprivate func canBeAtMost(_ other: Release.Moment) -> Bool {
        if case (.day(let mine), .day(let others)) = (self, other) { return mine <= others }
        return earliest <= other.latest
    }
}
