public import Foundation

/// A period in which the app had one business model.
public struct Era: Sendable, Hashable {
    public enum Model: String, Sendable, Hashable, CaseIterable {
        /// The app was sold for a price.
        case paid
        /// The app was free to get, with or without purchases inside.
        case free
    }

    public let name: String
    public let model: Model
    /// By platform. Empty for the first era, which has no beginning.
    public let begins: [Platform: Beginning]
    /// Around each dated beginning. Nil: the policy doesn't state it.
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
    /// Inclusive: this version and this instant already belong to the new era. What is nil cannot separate the two.
    case at(version: AppVersion?, date: Date?)
    /// The platform itself began in this era: nobody acquired the app there before.
    case new

    package var version: AppVersion? {
        if case .at(let version, _) = self { version } else { nil }
    }

    package var date: Date? {
        if case .at(_, let date) = self { date } else { nil }
    }
}

/// How long around each dated beginning price and version may disagree: price, storefronts and binary never change
/// together.
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
    public enum Moment: Sendable, Hashable {
        case instant(Date)
        /// Some instant of that day in some time zone.
        case day(CivilDay)
        /// Not known: some time between the releases listed around it.
        case undated
    }

    public let platform: Platform
    /// CFBundleShortVersionString.
    public let version: AppVersion?
    /// CFBundleVersion.
    public let build: AppVersion?
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

    /// The number by which the App Store names this release on its platform.
    package var originalAppVersion: AppVersion? {
        switch platform.versionKey {
        case .bundleVersion: build
        case .shortVersionString: version
        }
    }
}

extension Release.Moment {
    /// Whether it is before the other one, whatever the instants of days are. Two days compare as days.
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
