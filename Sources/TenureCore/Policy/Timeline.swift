package import Foundation

/// The eras of a policy as one platform saw them: which there were, and where each began.
package final class Timeline: Sendable {
    /// Nil for a platform that the policy does not know: there nothing separates the eras.
    package let platform: Platform?
    /// The first era in which the app was to be had there.
    package let firstEra: Int
    package let eraCount: Int
    /// The beginning of each era, by its place; nil where nothing is said (and always for the first).
    package let beginnings: [Beginning?]
    /// Rule A3: the eras in which each listed release was on sale; nil where the platform has no release list.
    package let erasOfRelease: [AppVersion: EraSet]?
    /// Whether some beginning has a moment with which the listed releases can be compared.
    let releasesMeetBoundary: Bool
    /// Rule A4: whether versions rise over time, so that a version tells an era without a release list.
    package let versionsRise: Bool
    private let dateBoundaries: [(era: Int, date: Date)]
    /// `lowest` is the first of the eras that begin with one version: they stay together.
    private let versionBoundaries: [(era: Int, version: AppVersion, lowest: Int)]
    /// Rule C: the windows, slack included, in which both eras of a change were on sale.
    package let changeovers: [(window: ClosedRange<Date>, eras: EraSet)]

    package var allEras: EraSet { EraSet(from: firstEra, to: eraCount) }
    package var hasVersionBoundary: Bool { !versionBoundaries.isEmpty }
    package var hasDateBoundary: Bool { !dateBoundaries.isEmpty }

    init(platform: Platform?, eras: [Era], releases: [Release], buildNumbers: Policy.BuildNumbers?) {
        func beginning(of era: Era) -> Beginning? {
            guard let platform else { return nil }
            return era.begins[platform] ?? (platform.inheritsFromIOS ? era.begins[.iOS] : nil)
        }
        var beginnings = eras.enumerated().map { $0.offset == 0 ? nil : beginning(of: $0.element) }
        let firstEra = beginnings.lastIndex(of: .new) ?? 0
        // What an inherited boundary says of the time before the platform began says nothing.
        for index in 0..<min(firstEra, beginnings.count) { beginnings[index] = nil }
        self.platform = platform
        self.firstEra = firstEra
        self.beginnings = beginnings
        eraCount = min(eras.count, EraSet.capacity)
        versionsRise = platform == .macOS || (platform != nil && buildNumbers == .increasing)
        dateBoundaries = beginnings.enumerated().compactMap { index, beginning in
            beginning?.date.map { (index, $0) }
        }
        var versionBoundaries: [(era: Int, version: AppVersion, lowest: Int)] = []
        for (index, beginning) in beginnings.enumerated() {
            guard let version = beginning?.version else { continue }
            let lowest = versionBoundaries.last.flatMap { $0.version == version ? $0.lowest : nil }
            versionBoundaries.append((index, version, lowest ?? index))
        }
        self.versionBoundaries = versionBoundaries
        changeovers = zip(eras, beginnings).enumerated().compactMap { index, change in
            guard let date = change.1?.date, let changeover = change.0.changeover, index > firstEra else { return nil }
            let start = date.addingTimeInterval(changeover.from - Slack.seconds)
            let end = date.addingTimeInterval(changeover.until + Slack.seconds)
            return start <= end ? (start...end, EraSet(from: index - 1, to: index + 1)) : nil
        }
        let own = releases.filter { $0.platform == platform }
        let inherited = platform?.inheritsFromIOS == true ? releases.filter { $0.platform == .iOS } : []
        let list = own.isEmpty ? inherited : own
        let listed = list.isEmpty ? nil : ReleaseList(list).eras(firstEra: firstEra, beginnings: beginnings)
        erasOfRelease = listed?.byVersion
        releasesMeetBoundary = listed?.meetBoundary ?? false
    }

    /// Rule B: the eras that contain the date. A beginning without an instant cannot separate.
    package func eras(at date: Date) -> EraSet {
        var first = firstEra
        var end = eraCount
        for boundary in dateBoundaries {
            if date < boundary.date.addingTimeInterval(-Slack.seconds) {
                end = min(end, boundary.era)
            } else if date >= boundary.date.addingTimeInterval(Slack.seconds) {
                first = max(first, boundary.era)
            }
        }
        return EraSet(from: first, to: end)
    }

    /// Rule A4: the eras whose beginnings enclose the version. Eras that begin with one version stay together.
    package func eras(enclosing version: AppVersion) -> EraSet {
        var first = firstEra
        var end = eraCount
        for boundary in versionBoundaries {
            if version < boundary.version {
                end = min(end, boundary.era)
            } else {
                first = max(first, boundary.lowest)
            }
        }
        return EraSet(from: first, to: end)
    }

    /// Both eras of every change in whose window the date lies; nil where it lies in none.
    package func changeover(at date: Date) -> EraSet? {
        var result: EraSet?
        for changeover in changeovers where changeover.window.contains(date) {
            result = (result ?? EraSet()).union(changeover.eras)
        }
        return result
    }

    /// The instant at which the era ended here; nil where there is no next one or it has no instant.
    package func end(of era: Int) -> Date? {
        era + 1 < beginnings.count ? beginnings[era + 1]?.date : nil
    }

    /// The instants between which the era can have been on sale here, as far as they are known.
    package func sale(of era: Int) -> (begin: Date, end: Date) {
        var begin = Date.distantPast
        var end = Date.distantFuture
        for boundary in dateBoundaries {
            if boundary.era <= era { begin = max(begin, boundary.date) } else { end = min(end, boundary.date) }
        }
        for changeover in changeovers where changeover.eras.contains(era) {
            if changeover.eras.first == era {
                end = max(end, changeover.window.upperBound)
            } else {
                begin = min(begin, changeover.window.lowerBound)
            }
        }
        return (begin, end)
    }
}

/// The timelines of a policy, by platform.
package struct Timelines: Sendable {
    /// Of the platforms that the policy names itself, in a fixed order; one that knows nothing where it names none.
    package let known: [Timeline]
    /// One for each platform, in the order of `Platform.allCases`.
    private let lists: [[Timeline]]

    package init(eras: [Era], releases: [Release], buildNumbers: Policy.BuildNumbers?) {
        func timeline(_ platform: Platform?) -> Timeline {
            Timeline(platform: platform, eras: eras, releases: releases, buildNumbers: buildNumbers)
        }
        let named = Set(eras.flatMap(\.begins.keys)).union(releases.map(\.platform))
        let unknown = timeline(nil)
        let all = Platform.allCases.map { platform in
            named.contains(platform) || (platform.inheritsFromIOS && named.contains(.iOS))
                ? timeline(platform) : unknown
        }
        lists = all.map { [$0] }
        let known = zip(Platform.allCases, all).filter { named.contains($0.0) }.map(\.1)
        self.known = known.isEmpty ? [unknown] : known
    }

    /// Where an app of this signed platform can have been acquired: there, or where nobody signed one, on any
    /// platform that the policy knows. A platform that it does not know separates nothing.
    package func possible(for platform: Platform?) -> [Timeline] {
        guard let platform else { return known }
        return lists[platform.ordinal]
    }
}
