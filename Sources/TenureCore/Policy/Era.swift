public import Foundation

/// A period in which the app had one business model.
public struct Era: Sendable, Hashable {
    /// How customers got the app in an era.
    public enum Model: String, Sendable, Hashable, CaseIterable {
        /// The app was sold for a price.
        case paid
        /// The app was free to get, with or without purchases inside.
        case free
    }

    /// The name in the policy. Entitlements list it under `honors` to give something to the era's customers.
    public let name: String
    /// How customers got the app in this era.
    public let model: Model
    /// Where the era begins on each platform. Empty for the first era, which has no beginning.
    public let begins: [Platform: Beginning]
    /// The time around each beginning in which price and version may not match. Nil if the policy doesn't state it.
    public let changeover: Changeover?

    /// Any values are accepted. `Policy` reports an era without a name or beginning, and eras in the wrong order.
    public init(name: String, model: Model, begins: [Platform: Beginning] = [:], changeover: Changeover? = nil) {
        self.name = name
        self.model = model
        self.begins = begins
        self.changeover = changeover
    }
}

/// Where an era begins on a platform.
public enum Beginning: Sendable, Hashable {
    /// The first version (a build, except on macOS) and the first date of the era. If one of the two is nil, only the
    /// other separates the era from the earlier era.
    case at(version: AppVersion?, date: Date?)
    /// The app came to the platform in this era, so it can't have been acquired there before (rule A7 of
    /// Docs/decision-rules.md).
    case new

    /// The era's first version. Nil for `new`, and if the policy states only a date.
    package var version: AppVersion? { if case .at(let version, _) = self { version } else { nil } }

    /// The era's first date. Nil for `new`, and if the policy states only a version.
    package var date: Date? { if case .at(_, let date) = self { date } else { nil } }
}

/// The time around a change of the business model in which a customer may have got the old price with the new version,
/// or the reverse. The App Store doesn't change price, storefronts and binary at the same time.
public enum Changeover: Sendable, Hashable {
    /// Price and version changed at the same time: `changeover: none` in the policy.
    case noWindow
    /// The window in seconds, both ends included: from before the beginning (`from`, not positive) until after it
    /// (`until`, not negative).
    case window(from: TimeInterval, until: TimeInterval)

    /// The window. Nil if the policy has `changeover: none`.
    package var window: (from: TimeInterval, until: TimeInterval)? {
        if case .window(let from, let until) = self { (from, until) } else { nil }
    }
}

/// A release of the app on one platform.
public struct Release: Sendable, Hashable {
    /// When a release went on sale, as precisely as the release list says (rule A5).
    public enum Moment: Sendable, Hashable {
        /// The list has a date with time and time zone.
        case instant(Date)
        /// The list has only the day. The time and the time zone are unknown.
        case day(CivilDay)
        /// The list has no date. The release went on sale between the releases before and after it in the list.
        case undated

        /// Whether this moment is certainly earlier than the other moment, in any time zone. Two days are compared by
        /// date, not by instant.
        package func isCertainlyEarlier(than other: Release.Moment) -> Bool {
            switch (self, other) {
            case (.instant(let mine), .instant(let others)): mine < others
            case (.day(let mine), .day(let others)): mine < others
            case (.instant(let mine), .day(let others)): mine < others.firstBeginning
            case (.day(let mine), .instant(let others)): mine.lastEnd <= others
            case (.undated, _), (_, .undated): false
            }
        }
    }

    /// The platform of the store that sold the release.
    public let platform: Platform
    /// The marketing version (CFBundleShortVersionString); nil if the release list doesn't state it.
    public let version: AppVersion?
    /// The build number (CFBundleVersion); nil if the release list doesn't state it.
    public let build: AppVersion?
    /// When the release went on sale.
    public let releasedAt: Moment
    /// How the app was sold at that time; nil if the release list doesn't state it.
    public let model: Era.Model?

    /// Any values are accepted. In a list with undated releases, `Policy` reports a dated release in the wrong place.
    public init(
        platform: Platform, version: AppVersion?, build: AppVersion?, releasedAt: Moment, model: Era.Model? = nil
    ) {
        self.platform = platform
        self.version = version
        self.build = build
        self.releasedAt = releasedAt
        self.model = model
    }

    /// What the App Store reports as `originalAppVersion` if a customer got this release first: the version on macOS,
    /// elsewhere the build. Nil if the release list doesn't state it.
    package var originalAppVersion: AppVersion? {
        switch platform.versionKey {
        case .bundleVersion: build
        case .shortVersionString: version
        }
    }
}
