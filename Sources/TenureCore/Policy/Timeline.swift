package import Foundation

/// The eras (periods with one business model) of a policy on one platform: which eras happened on the platform, and
/// where each era began. The beginning of an era is also called the boundary between this era and the era before.
///
/// For example, a policy has the eras `paid` and `free`, and `free` begins on iOS with build 120 on June 10, 2015, and
/// on macOS with version 2.0 on June 12. There are two timelines with one boundary each. The timeline of iOS finds
/// `paid` for build 37 (`eras(enclosing:)`) and for May 1, 2014 (`eras(at:)`).
///
/// Eras are numbered in the order of the policy, from 0. A set of eras such as `eras` has these numbers.
/// Docs/decision-rules.md has the rules that the comments cite.
package final class Timeline: Sendable {
    /// The platform. Nil if the policy has no beginning and no release for the platform, neither its own nor inherited
    /// from iOS. If so, the eras can't be separated.
    package let platform: Platform?
    /// The eras that happened on the platform.
    package let eras: EraSet
    /// Where each era begins, by the era's index in the policy. Nil if the era has no beginning on this platform, and
    /// always for the first era.
    package let beginnings: [Beginning?]
    /// Rule A5: the eras in which each listed release was on sale. Nil if the platform has no release list.
    package let erasOfRelease: [AppVersion: EraSet]?
    /// Whether at least one beginning has a date with which listed releases can be compared.
    let hasReleaseBoundary: Bool
    /// Rule A6: whether versions increase over time. If so, a version proves an era even without a release list.
    package let versionsRise: Bool
    /// Rule A8: whether a boundary or the release list is that of iOS, because the platform has none in the policy.
    let inherits: Bool
    /// The beginnings that have a date.
    private let dateBoundaries: [(era: Int, date: Date)]
    /// The beginnings that have a version. If several eras in a row begin with the same version, the version can't
    /// separate these eras, and `lowest` is the first of these eras.
    private let versionBoundaries: [(era: Int, version: AppVersion, lowest: Int)]
    /// Rule C3: the time around each change of era in which both eras are possible, and these two eras. It is the
    /// policy's `changeover` window, widened by the tolerance.
    package let changeovers: [(window: ClosedRange<Date>, eras: EraSet)]

    /// The first era in which the app was available on the platform.
    package var firstEra: Int { eras.first ?? 0 }
    /// Whether at least one era's beginning has a version.
    var hasVersionBoundary: Bool { !versionBoundaries.isEmpty }
    /// Whether at least one era's beginning has a date.
    var hasDateBoundary: Bool { !dateBoundaries.isEmpty }

    init(platform: Platform?, eras: [Era], releases: [Release], buildNumbers: Policy.BuildNumbers?) {
        self.platform = platform
        // The boundaries between the eras, by date and by version.
        let (happened, beginnings, inheritsBoundary) = Self.beginnings(of: eras, on: platform)
        self.eras = happened
        self.beginnings = beginnings
        versionsRise = platform == .macOS || (platform != nil && buildNumbers == .increasing)
        dateBoundaries = beginnings.enumerated().compactMap { index, beginning in beginning?.date.map { (index, $0) } }
        var versionBoundaries: [(era: Int, version: AppVersion, lowest: Int)] = []
        for (index, beginning) in beginnings.enumerated() {
            guard let version = beginning?.version else { continue }
            let lowest = versionBoundaries.last.flatMap { $0.version == version ? $0.lowest : nil }
            versionBoundaries.append((index, version, lowest ?? index))
        }
        self.versionBoundaries = versionBoundaries
        // The windows around the boundaries with a date.
        changeovers = dateBoundaries.compactMap { boundary in
            guard let window = eras[boundary.era].changeover?.window, let previous = happened.last(before: boundary.era)
            else { return nil }
            let start = boundary.date.addingTimeInterval(window.from - Tolerance.seconds)
            let end = boundary.date.addingTimeInterval(window.until + Tolerance.seconds)
            var both = EraSet()
            both.insert(previous)
            both.insert(boundary.era)
            return start <= end ? (start...end, both) : nil
        }
        // The release list: the platform's own list, or else the list of iOS.
        let ownReleases = releases.filter { $0.platform == platform }
        let inheritedReleases = platform?.inheritsFromIOS == true ? releases.filter { $0.platform == .iOS } : []
        let list = ownReleases.isEmpty ? inheritedReleases : ownReleases
        let listedEras = list.isEmpty ? nil : ReleaseList(list, beginnings: beginnings).eras(among: happened)
        erasOfRelease = listedEras?.byVersion
        hasReleaseBoundary = listedEras?.hasBoundary ?? false
        inherits = inheritsBoundary || (ownReleases.isEmpty && !inheritedReleases.isEmpty)
    }

    /// Rules A7 and A8: the eras that happened on a platform, where each began, and whether a beginning is taken from
    /// iOS.
    private static func beginnings(
        of eras: [Era], on platform: Platform?
    ) -> (eras: EraSet, beginnings: [Beginning?], inherits: Bool) {
        let all = EraSet(from: 0, to: eras.count)
        guard let platform else { return (all, eras.map { _ in nil }, false) }
        var inherits = false
        var beginnings = eras.enumerated().map { index, era -> Beginning? in
            guard index > 0 else { return nil }
            if let own = era.begins[platform] { return own }
            guard platform.inheritsFromIOS, let inherited = era.begins[.iOS] else { return nil }
            inherits = true
            // The app can't have been acquired here before the platform's store opened.
            if let date = inherited.date, let opening = platform.storeOpening, date <= opening { return .new }
            return inherited
        }
        guard beginnings.contains(where: { $0 != nil }) else { return (all, beginnings, false) }
        // `new`: the app came to the platform in this era, so earlier eras are impossible. A later era without a
        // beginning here didn't happen here.
        let firstEra = beginnings.lastIndex(of: .new) ?? 0
        for index in 0..<firstEra { beginnings[index] = nil }
        var happened = EraSet(from: firstEra, to: firstEra + 1)
        for index in beginnings.indices where beginnings[index] != nil { happened.insert(index) }
        return (happened, beginnings, inherits)
    }

    /// Rule B: returns the eras that contain the date. A beginning without a date can't separate eras. Within
    /// `Tolerance.seconds` of a boundary, both eras are possible.
    package func eras(at date: Date) -> EraSet {
        // The result is `first..<end`, and each boundary narrows it.
        var first = 0
        var end = EraSet.capacity
        for boundary in dateBoundaries {
            if date < boundary.date.addingTimeInterval(-Tolerance.seconds) {
                end = min(end, boundary.era)
            } else if date > boundary.date.addingTimeInterval(Tolerance.seconds) {
                first = max(first, boundary.era)
            }
        }
        return EraSet(from: first, to: end).intersection(eras)
    }

    /// Rule A6: the eras with boundaries that enclose the version.
    package func eras(enclosing version: AppVersion) -> EraSet {
        var first = 0
        var end = EraSet.capacity
        for boundary in versionBoundaries {
            if version < boundary.version { end = min(end, boundary.era) } else { first = max(first, boundary.lowest) }
        }
        return EraSet(from: first, to: end).intersection(eras)
    }

    /// Rule C3: both eras of every change with a window that contains the date. Empty if there is no such window.
    package func changeover(at date: Date) -> EraSet {
        var result = EraSet()
        for changeover in changeovers where changeover.window.contains(date) { result = result.union(changeover.eras) }
        return result
    }

    /// The next era on the platform after `era`.
    package func era(after era: Int) -> Int? { eras.first(after: era) }

    /// Returns when the era ended on this platform; nil if there is no next era, or if the next era's beginning has no
    /// date.
    package func end(of era: Int) -> Date? { self.era(after: era).flatMap { beginnings[$0]?.date } }

    /// Returns when the app's sale in this era began (inclusive) and ended (exclusive) on the platform, without
    /// changeover windows. A date that isn't known is the distant past or future.
    package func sale(of era: Int) -> (begin: Date, end: Date) {
        var begin = Date.distantPast
        var end = Date.distantFuture
        for boundary in dateBoundaries {
            if boundary.era <= era { begin = max(begin, boundary.date) } else { end = min(end, boundary.date) }
        }
        return (begin, end)
    }
}
