package import Foundation

/// A platform on which an app can be acquired.
///
/// iPadOS is treated as iOS, and the App Store reports Mac Catalyst as macOS.
public enum Platform: String, CaseIterable, Sendable, Hashable, CodingKeyRepresentable {
    case iOS, macOS, tvOS, watchOS, visionOS

    /// The platform with this name in signed artifacts. Nil if the name is unknown.
    package init?(appStoreName name: String) { self.init(rawValue: name == "iPadOS" ? "iOS" : name) }

    /// Which version number the App Store reports as the original version of an app acquired on this platform.
    public var versionKey: VersionKey { self == .macOS ? .shortVersionString : .bundleVersion }

    /// The index in `allCases`.
    var ordinal: Int {
        switch self {
        case .iOS: 0
        case .macOS: 1
        case .tvOS: 2
        case .watchOS: 3
        case .visionOS: 4
        }
    }

    /// Whether the beginnings of eras and the release list of iOS apply to the platform, too, if the policy has none
    /// for the platform.
    package var inheritsFromIOS: Bool { self != .iOS && self != .macOS }

    /// When the platform's App Store opened, if later than the App Store of iOS (rule A8 of Docs/decision-rules.md).
    package var storeOpening: Date? {
        switch self {
        case .iOS, .macOS: nil
        case .tvOS: Date(timeIntervalSince1970: 1_446_163_200)  // 2015-10-30
        case .watchOS: Date(timeIntervalSince1970: 1_568_851_200)  // 2019-09-19
        case .visionOS: Date(timeIntervalSince1970: 1_706_832_000)  // 2024-02-02
        }
    }

    /// Rule A9: an app can't be acquired on a platform before its store opened.
    func isPossible(on date: Date?) -> Bool {
        guard let date, let storeOpening else { return true }
        return date >= storeOpening.addingTimeInterval(-Tolerance.seconds)
    }
}

/// Which of an app's two version numbers `originalAppVersion` holds.
public enum VersionKey: String, Sendable, Hashable {
    /// CFBundleVersion, the build: on iOS, iPadOS, tvOS, watchOS and visionOS.
    case bundleVersion = "build"
    /// CFBundleShortVersionString, the marketing version: on macOS.
    case shortVersionString = "version"
}
