/// A platform on which an app can be acquired.
///
/// iPadOS is reported as iOS, and Mac Catalyst as macOS.
public enum Platform: String, CaseIterable, Sendable, Hashable, CodingKeyRepresentable {
    case iOS, macOS, tvOS, watchOS, visionOS

    /// What the App Store calls the version of an app that was first acquired on this platform.
    public var versionKey: VersionKey {
        self == .macOS ? .shortVersionString : .bundleVersion
    }

    /// Its place in `allCases`.
    var ordinal: Int {
        switch self {
        case .iOS: 0
        case .macOS: 1
        case .tvOS: 2
        case .watchOS: 3
        case .visionOS: 4
        }
    }

    /// tvOS, watchOS and visionOS take iOS's boundaries and release list unless they have their own.
    package var inheritsFromIOS: Bool {
        switch self {
        case .tvOS, .watchOS, .visionOS: true
        case .iOS, .macOS: false
        }
    }
}

/// Which of an app's two version numbers `originalAppVersion` holds.
public enum VersionKey: String, Sendable, Hashable {
    /// CFBundleVersion, the build: on iOS, iPadOS, tvOS, watchOS and visionOS.
    case bundleVersion = "build"
    /// CFBundleShortVersionString, the marketing version: on macOS.
    case shortVersionString = "version"
}
