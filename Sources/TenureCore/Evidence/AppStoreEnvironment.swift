/// The environment in which the App Store signed an artifact, such as a transaction. Tenure never combines artifacts of
/// different environments.
public enum AppStoreEnvironment: String, CaseIterable, Sendable, Hashable, Codable {
    /// The App Store, with real customers.
    case production = "Production"
    /// Development builds with a sandbox account, TestFlight and App Review.
    case sandbox = "Sandbox"
    /// StoreKit testing in Xcode: signed by a certificate of the developer's machine.
    case xcode = "Xcode"

    /// Whether artifacts of this environment can prove in which era a customer got the app. Only those of production
    /// can: in Sandbox, every app has the original version "1.0" and the purchase date 2013-08-01.
    public var isProduction: Bool { self == .production }
}
