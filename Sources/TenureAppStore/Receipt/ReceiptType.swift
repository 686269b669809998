public import TenureCore

/// Attribute 0 of a receipt: in which environment it was signed, and whether the app was bought in volume.
public enum ReceiptType: String, CaseIterable, Sendable, Hashable {
    case production = "Production"
    /// The App Store's volume purchase programme.
    case productionVPP = "ProductionVPP"
    case productionSandbox = "ProductionSandbox"
    case productionVPPSandbox = "ProductionVPPSandbox"
    /// Appears in lists of the values, but in no receipt that was seen.
    case sandbox = "Sandbox"
    case xcode = "Xcode"

    public var environment: AppStoreEnvironment {
        switch self {
        case .production, .productionVPP: .production
        case .productionSandbox, .productionVPPSandbox, .sandbox: .sandbox
        case .xcode: .xcode
        }
    }

    public var isVolumePurchase: Bool { self == .productionVPP || self == .productionVPPSandbox }
}
