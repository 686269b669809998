package import TenureCore

extension Platform {
    /// The platforms on which the App Store says that an app was acquired: the four values of `AppStore.Platform` in
    /// StoreKit, which `originalPlatform` contains. An app for a watch is acquired on iOS.
    package static let ofAcquisitions: [Platform] = [.iOS, .macOS, .tvOS, .visionOS]
}
