extension Tenure {
    /// How this copy of the app came onto the device. Told from the app's own files, before the store is asked anything:
    /// where there is no store behind the app, StoreKit answers with a sign-in.
    public enum Distribution: String, Sendable, Hashable, CaseIterable {
        /// From the App Store, also for App Review.
        case appStore
        case testFlight
        /// From Setapp, who take the money themselves.
        case setapp
        /// A Mac app that its developer hands out.
        case direct
        /// Run from Xcode, in a simulator, or signed for a developer's devices.
        case development

        /// Whether `AppTransaction.shared` has something to say, and asks nobody to sign in for it.
        package var hasAppTransaction: Bool {
            switch self {
            case .appStore, .testFlight: true
            case .setapp, .direct, .development: false
            }
        }

        /// Whether purchases can be listed. In development they come from Xcode's StoreKit testing or the sandbox.
        package var hasPurchases: Bool {
            switch self {
            case .appStore, .testFlight, .development: true
            case .setapp, .direct: false
            }
        }

        /// Why the store is not asked.
        var whyNotAsked: String {
            switch self {
            case .appStore, .testFlight: "the app came from the App Store"
            case .setapp: "the app came from Setapp, so that the App Store knows nothing of it"
            case .direct: "the app came from its developer, so that the App Store knows nothing of it"
            case .development: "a development build has no app transaction, and asking for one may show a sign-in"
            }
        }
    }
}
