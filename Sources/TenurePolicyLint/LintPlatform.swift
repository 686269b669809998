import Foundation
import TenureCore
import TenurePolicyFile

/// One platform of the app, as the rules need it: the policy's eras (periods in which the app was paid, or free) and
/// the releases in the release list.
///
/// The rules call the beginning of an era a *change* or a *boundary*. It has a version (on iOS, a build), a date, or
/// both.
struct LintPlatform: Sendable {
    let platform: Platform
    /// The eras of the policy on this platform, with the beginning of each.
    let timeline: Timeline
    /// The releases of this platform in the order of the list, including undated releases.
    let listedReleases: [Release]
    /// The dated releases of this platform in the list, oldest first.
    let releases: [ListedRelease]
    /// All releases of this platform in the order in which they came out. They are sorted by date. If at least one
    /// release has no date, they are in the order of the list.
    let orderedReleases: [ListedRelease]
    /// When each era began on this platform, by the era's index: the date in the policy, or the date of the era's first
    /// version in the release list. Nil if neither is known.
    let starts: [Release.Moment?]
    /// Whether the policy says that build numbers restarted on this platform.
    private let mayRestart: Bool

    /// The number that the App Store reports on this platform, and the key that a policy uses for it: `build` or
    /// `version`.
    var key: VersionKey { platform.versionKey }
    /// The platform in messages.
    var name: String { platform.rawValue }
    /// What messages call the number that the App Store reports: `build` or `version`.
    var noun: String { key.rawValue }
    /// Whether the policy itself has a release list for this platform. If so, the list decides which eras a version
    /// proves.
    var decidesByList: Bool { timeline.erasOfRelease != nil }
    /// Whether a boundary's build has no effect, because build numbers restarted and the policy itself has no release
    /// list for this platform.
    var neverComparesBuilds: Bool { mayRestart && !decidesByList }

    init(_ platform: Platform, timeline: Timeline, list: [ListedRelease], mayRestart: Bool) {
        self.platform = platform
        self.timeline = timeline
        self.mayRestart = mayRestart && platform.versionKey == .bundleVersion
        let list = list.filter { $0.release.platform == platform }
        listedReleases = list.map(\.release)
        let releases = list.filter { $0.release.releasedAt != .undated }
            .sorted { $0.release.releasedAt.sortingDate < $1.release.releasedAt.sortingDate }
        self.releases = releases
        orderedReleases = releases.count == list.count ? releases : list
        starts = timeline.beginnings.map { beginning in
            if let date = beginning?.date { return .instant(date) }
            guard let version = beginning?.version else { return nil }
            return releases.first { $0.release.originalAppVersion == version }?.release.releasedAt
        }
    }

    /// Returns the index of the era in which the release came out, by its date; nil if that isn't certain.
    func era(of release: Release) -> Int? {
        var result = timeline.firstEra
        for index in starts.indices where index > timeline.firstEra {
            guard let start = starts[index] else { return nil }
            if start.sortingDay != release.releasedAt.sortingDay || (start.isInstant && release.releasedAt.isInstant) {
                if release.releasedAt.sortingDate < start.sortingDate { break }
            } else if let number = release.originalAppVersion, let first = timeline.beginnings[index]?.version {
                // Both are on the same day, and at least one has no time of day. So the version decides: the era begins
                // with its first version.
                if number < first { break }
            } else {
                return nil
            }
            result = index
        }
        return result
    }

    /// Returns the eras to which customers with this original version can belong; nil if the version excludes no era.
    func eras(provenBy number: AppVersion) -> EraSet? {
        // A proof that excludes no era, or every era, proves nothing.
        func separating(_ eras: EraSet) -> EraSet? { eras.isEmpty || eras == timeline.eras ? nil : eras }
        if let list = timeline.erasOfRelease {
            if let listed = list[number].flatMap(separating) { return listed }
            // If no boundary has a date in the policy or in the list, the list separates nothing. Then compare with the
            // boundaries' numbers, which show what the author intended.
            if mayRestart || starts.contains(where: { $0 != nil }) { return nil }
            return separating(timeline.eras(enclosing: number))
        }
        return timeline.versionsRise ? separating(timeline.eras(enclosing: number)) : nil
    }

    /// Returns the place by which an acknowledgment names a finding about a release, such as `releases/iOS/120`. The
    /// place includes the date if the list has the number several times.
    func place(of release: Release) -> String {
        let number = release.originalAppVersion
        let isListedOnce = releases.count { $0.release.originalAppVersion == number } < 2
        let parts = ["releases", platform.rawValue, number.map { "\($0)" } ?? "unknown"]
        return (parts + (isListedOnce ? [] : [release.releasedAt.text])).joined(separator: "/")
    }

    /// Returns the period in which the release was on sale: until the next release in the list, or `distantFuture`.
    func sale(of release: Release) -> (from: Date, until: Date) {
        let start = release.releasedAt.sortingDate
        // Use a binary search, because a list may have thousands of releases.
        let next = releases.partitioningIndex { $0.release.releasedAt.sortingDate > start }
        return (start, next < releases.count ? releases[next].release.releasedAt.sortingDate : .distantFuture)
    }

    /// Returns when a release came out; nil if that isn't known. The version that a boundary names came out at the
    /// boundary's instant, if it is listed without a date (rule A5 of Docs/decision-rules.md).
    private func begin(of release: Release) -> Date? {
        guard release.releasedAt == .undated else { return release.releasedAt.sortingDate }
        guard let version = release.originalAppVersion,
            let date = timeline.beginnings.lazy.compactMap({ $0?.version == version ? $0?.date : nil }).first,
            !releases.contains(where: { $0.release.originalAppVersion == version })
        else { return nil }
        return date
    }

    /// Returns the era in which the release at this index of `orderedReleases` came out, and the period in which it was
    /// on sale. Nil if either isn't certain.
    ///
    /// An undated release came out in the era that its version proves, and after the dated release before it. The
    /// release was certainly on sale only until the next release in the list, if the next release is dated.
    func eraAndSale(at index: Int) -> (era: Int, from: Date, until: Date)? {
        let release = orderedReleases[index].release
        let begin = begin(of: release)
        let proven = release.originalAppVersion.flatMap { eras(provenBy: $0) }
        let provenEra = proven?.count == 1 ? proven?.first : nil
        guard let era = release.releasedAt == .undated ? provenEra : era(of: release) else { return nil }
        // A function, so that the search runs only if the loop finds no reason to return nil.
        func from() -> Date {
            begin ?? orderedReleases[..<index].lazy.reversed().compactMap { self.begin(of: $0.release) }.first
                ?? .distantPast
        }
        for next in orderedReleases[(index + 1)...] {
            guard let end = self.begin(of: next.release) else {
                // The next release ended this sale at an unknown date, if it has another version that proves eras.
                let number = next.release.originalAppVersion
                if number != release.originalAppVersion, number.flatMap({ eras(provenBy: $0) }) != nil { return nil }
                continue
            }
            if begin.map({ end > $0 }) ?? true { return (era, from(), end) }
        }
        return (era, from(), .distantFuture)
    }

    /// Returns the period of an era, including changeover windows: the times around a change in which the old price or
    /// build may still have been on sale.
    func sale(ofEra era: Int) -> (begin: Date, end: Date) {
        var (begin, end) = timeline.sale(of: era)
        // These windows are two seconds longer at each end (`Tolerance`) than in the policy.
        for (window, eras) in timeline.changeovers where eras.contains(era) {
            if eras.first == era {
                end = max(end, window.upperBound.addingTimeInterval(-Tolerance.seconds))
            } else {
                begin = min(begin, window.lowerBound.addingTimeInterval(Tolerance.seconds))
            }
        }
        return (begin, end)
    }

    /// The date of every change, and both ends of every changeover window.
    private var edges: [Date] {
        timeline.changeovers.flatMap { [$0.window.lowerBound, $0.window.upperBound] }
            + timeline.beginnings.compactMap { $0?.date }
    }

    /// Returns the beginning of the period around `date` in which the policy treats all purchases alike. It is the last
    /// change, or the last beginning or end of a changeover window, but not before `start`.
    func beginning(of date: Date, since start: Date) -> Date {
        max(start, edges.filter { $0 <= date }.max() ?? .distantPast)
    }

    /// Returns dates that represent all dates from `start` (inclusive) until `end` (exclusive): `start`, and one date
    /// before and one after every change and both ends of every changeover window.
    func representativeDates(from start: Date, until end: Date) -> [Date] {
        // Use a minute, because decisions treat dates that differ by up to two seconds as equal (`Tolerance`).
        let near = edges.flatMap { [$0.addingTimeInterval(-60), $0.addingTimeInterval(60)] }
        return ([start] + near.filter { start < $0 && $0 < end }).sorted()
    }

    /// Returns the name of the release in a message, such as `build 120`.
    func name(of release: Release) -> String { "\(noun) \(release.numberInWords)" }

    /// Returns the builds or versions of releases in a message, such as `builds 37 and 90`.
    ///
    /// - Parameter numbers: in ascending order.
    func name(of numbers: [AppVersion]) -> String { "\(noun)\(numbers.count == 1 ? "" : "s") \(inWords(numbers))" }
}

extension Release {
    /// The build or version that the App Store reports; empty if the list doesn't have it.
    var numberInWords: String { originalAppVersion?.description.shortened ?? "" }

    /// A date at which the release had certainly come out: its instant, or the end of its day.
    var lateInstant: Date {
        releasedAt.isInstant ? releasedAt.sortingDate : releasedAt.sortingDate.addingTimeInterval(86_400)
    }
}

extension Release.Moment {
    /// The date for sorting. For a day, its midnight in UTC.
    var sortingDate: Date {
        switch self {
        case .instant(let date): date
        case .day(let day): day.midnight
        case .undated: .distantPast
        }
    }

    /// The day for sorting. For an instant, its day in UTC.
    var sortingDay: CivilDay { CivilDay(of: sortingDate) }

    var isInstant: Bool { if case .instant = self { true } else { false } }

    /// Whether this moment is at or after the date. A day is compared with the date's day in UTC.
    func isAtOrAfter(_ date: Date) -> Bool {
        isInstant ? sortingDate >= date : sortingDay >= CivilDay(of: date)
    }
}
