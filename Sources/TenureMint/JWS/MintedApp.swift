public import Foundation
public import TenureCore

/// The invented app and customer of minted artifacts, unless a field is set explicitly.
public struct MintedApp: Sendable, Hashable {
    public var bundleID: String
    public var appAppleID: Int64
    public var environment: AppStoreEnvironment
    /// `AppStore.deviceVerificationID` of the customer's device.
    public var deviceVerificationID: UUID

    public init(
        bundleID: String = "com.example.calculator",
        appAppleID: Int64 = 828_838_134,
        environment: AppStoreEnvironment = .production,
        deviceVerificationID: UUID = MintedApp.device
    ) {
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.environment = environment
        self.deviceVerificationID = deviceVerificationID
    }

    /// The device of an invented customer, unless another one is named.
    public static let device = UUID(uuid: (0xD1, 0xCE, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0x01))
}
