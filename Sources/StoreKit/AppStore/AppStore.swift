public import Foundation

/// Functions of the App Store on this device, as in Apple's `AppStore`. On Linux, they use a local App Store for tests:
/// see `LocalStore`.
public enum AppStore: Sendable {
    /// Whether the customer may buy. False if a test sets `LocalStore.Behavior.canMakePayments` to false, or if no
    /// local App Store is configured.
    public static var canMakePayments: Bool { LocalStore.current?.behavior.canMakePayments ?? false }

    /// The ID of this device. The App Store signs each transaction with a hash of this ID: see
    /// `Transaction.deviceVerification`. Nil if no local App Store is configured.
    public static var deviceVerificationID: UUID? { LocalStore.current?.deviceVerificationID }

    /// Asks the customer to sign in, and gets everything from the App Store again: the app transaction, transactions,
    /// subscriptions and the receipt. Call this method only for the button “Restore Purchases”.
    /// Throws `StoreKitError.userCancelled` if the customer doesn't sign in, `networkError` while offline.
    public static func sync() async throws { try await LocalStore.required().sync() }

    /// The environment in which the App Store signed a value, such as production or the sandbox.
    public struct Environment: RawRepresentable, Equatable, Hashable, Sendable {
        /// The environment's name in the signed value, even if there is no constant for this name.
        public let rawValue: String

        /// Accepts any text, because Apple may add environments.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Apps from the App Store.
        public static let production = Environment(rawValue: "Production")
        /// Sandbox accounts, TestFlight and App Review.
        public static let sandbox = Environment(rawValue: "Sandbox")
        /// StoreKit testing in Xcode; a local App Store never reports this environment.
        public static let xcode = Environment(rawValue: "Xcode")
    }

    /// The platform on which the customer first got the app: iPadOS and watchOS are treated as iOS.
    public struct Platform: RawRepresentable, Equatable, Hashable, Sendable {
        /// The platform's name in the signed app transaction, even if there is no constant for this name. Empty if the
        /// app transaction has no platform.
        public let rawValue: String

        /// Accepts any text, because Apple may add platforms.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// iPhone and iPad. `AppTransaction.originalAppVersion` is then a build number.
        public static let iOS = Platform(rawValue: "iOS")
        /// The Mac, including Mac Catalyst. `AppTransaction.originalAppVersion` is then a marketing version.
        public static let macOS = Platform(rawValue: "macOS")
        /// Apple TV.
        public static let tvOS = Platform(rawValue: "tvOS")
        /// Apple Vision Pro.
        public static let visionOS = Platform(rawValue: "visionOS")
    }
}
