/// The environment in which the App Store signed something. Environments never mix.
public enum AppStoreEnvironment: String, CaseIterable, Sendable, Hashable, Codable {
    /// The App Store, with real customers.
    case production = "Production"
    /// Development builds with a sandbox account, TestFlight and App Review.
    case sandbox = "Sandbox"
    /// StoreKit testing in Xcode: signed by a certificate of the developer's machine.
    case xcode = "Xcode"

    /// Only production evidence proves an era: Sandbox always reports "1.0" and 2013-08-01.
    public var isProduction: Bool { self == .production }
}
