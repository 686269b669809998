/// The eras of a policy on each platform: one `Timeline` for each.
package struct Timelines: Sendable {
    /// The timelines of the platforms in the policy, in the order of `Platform.allCases`. If the policy has no
    /// platform, one timeline without boundaries.
    package let known: [Timeline]
    /// For each platform, in the order of `Platform.allCases`, an array with only its timeline, so that
    /// `possible(for:)` creates no array.
    private let lists: [[Timeline]]

    package init(eras: [Era], releases: [Release], buildNumbers: Policy.BuildNumbers?) {
        func timeline(_ platform: Platform?) -> Timeline {
            Timeline(platform: platform, eras: eras, releases: releases, buildNumbers: buildNumbers)
        }
        let namedPlatforms = Set(eras.flatMap(\.begins.keys)).union(releases.map(\.platform))
        let withoutBoundaries = timeline(nil)
        let all = Platform.allCases.map { platform in
            namedPlatforms.contains(platform) || (platform.inheritsFromIOS && namedPlatforms.contains(.iOS))
                ? timeline(platform) : withoutBoundaries
        }
        lists = all.map { [$0] }
        let known = zip(Platform.allCases, all).filter { platform, _ in namedPlatforms.contains(platform) }.map(\.1)
        self.known = known.isEmpty ? [withoutBoundaries] : known
    }

    /// Rule A3 of Docs/decision-rules.md: returns the timelines of the platforms on which the app can have been
    /// acquired.
    ///
    /// - Parameter platform: the platform in the customer's signed artifact. If it is nil, every platform in the policy
    ///   is possible. If the policy doesn't mention the platform, its timeline has no boundaries.
    package func possible(for platform: Platform?) -> [Timeline] {
        guard let platform else { return known }
        return lists[platform.ordinal]
    }
}
