public import TenureCore

/// Attribute 0 of a receipt: the environment, and whether the app was bought in volume.
public enum ReceiptType: String, CaseIterable, Sendable, Hashable {
    /// From the App Store.
    case production = "Production"
    /// The App Store's Volume Purchase Program.
    case productionVPP = "ProductionVPP"
    /// A sandbox account, TestFlight or App Review.
    case productionSandbox = "ProductionSandbox"
    /// Volume purchases in the sandbox.
    case productionVPPSandbox = "ProductionVPPSandbox"
    /// Listed in documentation, but not in any known receipt.
    case sandbox = "Sandbox"
    /// StoreKit testing in Xcode.
    case xcode = "Xcode"

    /// The environment of the App Store that signed the receipt.
    public var environment: AppStoreEnvironment {
        switch self {
        case .production, .productionVPP: .production
        case .productionSandbox, .productionVPPSandbox, .sandbox: .sandbox
        case .xcode: .xcode
        }
    }

    /// Whether an organization bought the license.
    public var isVolumePurchase: Bool { self == .productionVPP || self == .productionVPPSandbox }
}
