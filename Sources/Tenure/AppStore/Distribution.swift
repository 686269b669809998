extension Tenure {
    /// How this copy of the app was installed. The client reads this from the app's files before it calls StoreKit,
    /// which may show a sign-in in a copy that isn't from the App Store.
    public enum Distribution: String, Sendable, Hashable, CaseIterable {
        /// From the App Store, or in App Review.
        case appStore
        /// From TestFlight, which has the artifacts of the sandbox.
        case testFlight
        /// A build from Setapp, which charges the customer itself.
        case setapp
        /// A Mac app that its developer distributes.
        case direct
        /// Run from Xcode, in a simulator, or signed for a developer's devices.
        case development

        /// Whether `AppTransaction.shared` can return the app transaction without a sign-in.
        var hasAppTransaction: Bool {
            switch self {
            case .appStore, .testFlight: true
            case .setapp, .direct, .development: false
            }
        }

        /// Whether purchases can be listed. In development they come from Xcode's StoreKit testing or the sandbox.
        var hasPurchases: Bool {
            switch self {
            case .appStore, .testFlight, .development: true
            case .setapp, .direct: false
            }
        }

        /// Why the client doesn't call StoreKit, for the log.
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
