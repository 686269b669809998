extension Tenure {
    /// How this copy of the app was installed. The client reads this from the app's files before it calls StoreKit: in
    /// a copy from elsewhere than the App Store, StoreKit may show a sign-in.
    public enum Distribution: String, Sendable, Hashable, CaseIterable {
        /// From the App Store, or in App Review.
        case appStore
        /// From TestFlight. The App Store's sandbox signs what such a copy gets from StoreKit.
        case testFlight
        /// A build from Setapp, which charges the customer itself.
        case setapp
        /// A Mac app that its developer distributes outside of the App Store.
        case direct
        /// Run from Xcode, in a simulator, or signed for a developer's devices.
        case development

        /// Whether `AppTransaction.shared` can return the app transaction without a sign-in.
        var hasAppTransaction: Bool { self == .appStore || self == .testFlight }

        /// Whether StoreKit can list purchases. In development they come from Xcode's StoreKit testing or the sandbox.
        var hasPurchases: Bool { self != .setapp && self != .direct }

        /// Why the client doesn't request the app transaction (in development), or doesn't call StoreKit at all (in
        /// other copies from outside the App Store). It is part of messages.
        var whyStoreKitIsNotCalled: String {
            switch self {
            case .appStore, .testFlight: "the app came from the App Store"
            case .setapp: "the app came from Setapp, and the App Store has no record of it"
            case .direct: "the app came from its developer, and the App Store has no record of it"
            case .development: "a development build has no app transaction, and asking for one may show a sign-in"
            }
        }
    }
}
