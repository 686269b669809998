public import Foundation

/// A release of the app on one platform.
public struct Release: Sendable, Hashable {
    /// When a release went on sale, as precisely as the release list says (rule A5 of Docs/decision-rules.md).
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

    /// Any values are accepted. `Policy` rejects a list with undated releases unless the dated ones are oldest first.
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
