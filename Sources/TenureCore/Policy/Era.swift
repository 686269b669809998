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

    /// The name in the policy, which honors refer to.
    public let name: String
    /// How customers got the app at that time.
    public let model: Model
    /// Where the era begins on each platform. Empty for the first era, which has no beginning.
    public let begins: [Platform: Beginning]
    /// The window around each dated beginning; nil if the policy doesn't state it.
    public let changeover: Changeover?

    public init(name: String, model: Model, begins: [Platform: Beginning] = [:], changeover: Changeover? = nil) {
        self.name = name
        self.model = model
        self.begins = begins
        self.changeover = changeover
    }
}

/// Where an era begins on a platform.
public enum Beginning: Sendable, Hashable {
    /// Inclusive: this version and this instant belong to the new era. A nil value can't separate it from the earlier one.
    case at(version: AppVersion?, date: Date?)
    /// The platform began in this era, so the app can't have been acquired there before (Rule A7).
    case new

    package var version: AppVersion? {
        if case .at(let version, _) = self { version } else { nil }
    }

    package var date: Date? {
        if case .at(_, let date) = self { date } else { nil }
    }
}

/// How long around each dated beginning price and version may disagree. The App Store never changes price, storefronts
/// and binary at one instant.
public enum Changeover: Sendable, Hashable {
    /// They changed at one instant: the policy says `none`.
    case noWindow
    /// Seconds before (`from`, not positive) and after (`until`, not negative) the beginning. Both ends belong to it.
    case window(from: TimeInterval, until: TimeInterval)

    package var window: (from: TimeInterval, until: TimeInterval)? {
        if case .window(let from, let until) = self { (from, until) } else { nil }
    }
}

/// A release of the app on one platform.
public struct Release: Sendable, Hashable {
    /// When a release went on sale, as precisely as the list says (Rule A5).
    public enum Moment: Sendable, Hashable {
        case instant(Date)
        /// Some instant of that day in some time zone.
        case day(CivilDay)
        /// Unknown: some time between its neighbors in the list.
        case undated
    }

    /// The platform of the store that sold the release.
    public let platform: Platform
    /// CFBundleShortVersionString.
    public let version: AppVersion?
    /// CFBundleVersion.
    public let build: AppVersion?
    /// When the release went on sale.
    public let releasedAt: Moment
    /// How the app was sold at that time, where the list says so.
    public let model: Era.Model?

    public init(
        platform: Platform, version: AppVersion?, build: AppVersion?, releasedAt: Moment, model: Era.Model? = nil
    ) {
        self.platform = platform
        self.version = version
        self.build = build
        self.releasedAt = releasedAt
        self.model = model
    }

    /// This release's `originalAppVersion`: a version on macOS, elsewhere a build.
    package var originalAppVersion: AppVersion? {
        switch platform.versionKey {
        case .bundleVersion: build
        case .shortVersionString: version
        }
    }
}

extension Release.Moment {
    /// Whether it is earlier than the other one at whatever instants their days mean. Two days compare as days.
    func isCertainlyEarlier(than other: Release.Moment) -> Bool {
        switch (self, other) {
        case (.instant(let mine), .instant(let others)): mine < others
        case (.day(let mine), .day(let others)): mine < others
        case (.instant(let mine), .day(let others)): mine < others.firstBeginning
        case (.day(let mine), .instant(let others)): mine.lastEnd <= others
        case (.undated, _), (_, .undated): false
        }
    }
}
