import Foundation

/// The eras of a policy as one platform saw them: which there were, and where each began.
package struct Timeline: Sendable, Hashable {
    /// Nil for a platform that the policy does not know: there nothing separates the eras.
    package let platform: Platform?
    /// The first era in which the app was to be had there.
    let firstEra: Int
    let eraCount: Int
    /// The beginning of each era, by its place; nil where nothing is said (and always for the first).
    let beginnings: [Beginning?]
    /// Rule A3: the eras in which each listed release was on sale; nil where the platform has no release list.
    let erasOfRelease: [AppVersion: EraSet]?
    /// Rule A4: whether versions rise over time, so that a version tells an era without a release list.
    let versionsRise: Bool
    /// Rule C: the windows, slack included, in which both eras of a change were on sale.
    let changeovers: [(window: ClosedRange<Date>, eras: EraSet)]
    let hasVersionBoundary: Bool
    let hasDateBoundary: Bool

    var allEras: EraSet { EraSet(from: firstEra, to: eraCount) }

    init(platform: Platform?, eras: [Era], releases: [Release], buildNumbers: Policy.BuildNumbers?) {
        func beginning(of era: Era) -> Beginning? {
            guard let platform else { return nil }
            return era.begins[platform] ?? (platform.inheritsFromIOS ? era.begins[.iOS] : nil)
        }
        let beginnings = eras.enumerated().map { $0.offset == 0 ? nil : beginning(of: $0.element) }
        let firstEra = beginnings.lastIndex(of: .new) ?? 0
        self.platform = platform
        self.firstEra = firstEra
        self.beginnings = beginnings
        eraCount = min(eras.count, EraSet.capacity)
        versionsRise = platform == .macOS || (platform != nil && buildNumbers == .increasing)
        hasVersionBoundary = beginnings.contains { $0?.version != nil }
        hasDateBoundary = beginnings.contains { $0?.date != nil }
        changeovers = zip(eras, beginnings).enumerated().compactMap { index, change in
            guard let date = change.1?.date, let changeover = change.0.changeover, index > firstEra else { return nil }
            let start = date.addingTimeInterval(changeover.from - Slack.seconds)
            let end = date.addingTimeInterval(changeover.until + Slack.seconds)
            return start <= end ? (start...end, EraSet(from: index - 1, to: index + 1)) : nil
        }
        let own = releases.filter { $0.platform == platform }
        let inherited = platform?.inheritsFromIOS == true ? releases.filter { $0.platform == .iOS } : []
        let list = own.isEmpty ? inherited : own
        erasOfRelease =
            list.isEmpty ? nil : ReleaseList(list).eras(firstEra: firstEra, beginnings: beginnings)
    }

    package static func == (left: Timeline, right: Timeline) -> Bool {
        left.platform == right.platform && left.firstEra == right.firstEra && left.beginnings == right.beginnings
            && left.erasOfRelease == right.erasOfRelease && left.versionsRise == right.versionsRise
            && left.changeovers.elementsEqual(right.changeovers) { $0.window == $1.window && $0.eras == $1.eras }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(platform)
        hasher.combine(beginnings)
    }

    /// Rule B: the eras that contain the date. A beginning without an instant cannot separate.
    func eras(at date: Date) -> EraSet {
        guard hasDateBoundary else { return allEras }
        var result = EraSet()
        for era in firstEra..<max(firstEra, eraCount) {
            var isPossible = true
            for (index, beginning) in beginnings.enumerated() {
                guard let start = beginning?.date else { continue }
                if index <= era {
                    if date < start.addingTimeInterval(-Slack.seconds) { isPossible = false }
                } else if date >= start.addingTimeInterval(Slack.seconds) {
                    isPossible = false
                }
            }
            if isPossible { result.insert(era) }
        }
        return result
    }

    /// Rule A4: the eras whose beginnings enclose the version. Eras that begin with one version stay together.
    func eras(enclosing version: AppVersion) -> EraSet {
        var result = EraSet()
        for era in firstEra..<max(firstEra, eraCount) {
            var isPossible = true
            var start: AppVersion?
            for (index, beginning) in beginnings.enumerated() {
                guard let boundary = beginning?.version else { continue }
                if index <= era {
                    start = boundary
                    if version < boundary { isPossible = false }
                } else if version >= boundary, boundary != start {
                    isPossible = false
                }
            }
            if isPossible { result.insert(era) }
        }
        return result
    }

    /// Both eras of every change in whose window the date lies; nil where it lies in none.
    func changeover(at date: Date) -> EraSet? {
        var result: EraSet?
        for changeover in changeovers where changeover.window.contains(date) {
            result = (result ?? EraSet()).union(changeover.eras)
        }
        return result
    }

    /// The instant at which the era ended here; nil where there is no next one or it has no instant.
    func end(of era: Int) -> Date? {
        era + 1 < beginnings.count ? beginnings[era + 1]?.date : nil
    }
}

/// The timelines of a policy, by platform.
package struct Timelines: Sendable, Hashable {
    /// Of the platforms that the policy names itself, in a fixed order; one that knows nothing where it names none.
    let known: [Timeline]
    private let byPlatform: [Platform: Timeline]
    private let unknown: Timeline

    init(eras: [Era], releases: [Release], buildNumbers: Policy.BuildNumbers?) {
        func timeline(_ platform: Platform?) -> Timeline {
            Timeline(platform: platform, eras: eras, releases: releases, buildNumbers: buildNumbers)
        }
        let named = Set(eras.flatMap(\.begins.keys)).union(releases.map(\.platform))
        let unknown = timeline(nil)
        let known = Platform.allCases.filter(named.contains).map { timeline($0) }
        var byPlatform: [Platform: Timeline] = [:]
        for platform in Platform.allCases
        where named.contains(platform) || (platform.inheritsFromIOS && named.contains(.iOS)) {
            byPlatform[platform] = timeline(platform)
        }
        self.unknown = unknown
        self.known = known.isEmpty ? [unknown] : known
        self.byPlatform = byPlatform
    }

    /// What a platform saw; for one that the policy does not know, a timeline that separates nothing.
    func timeline(of platform: Platform) -> Timeline {
        byPlatform[platform] ?? unknown
    }
}
