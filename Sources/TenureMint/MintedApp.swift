package import Foundation
package import TenureCore

/// The app and the device that test artifacts are about.
package struct MintedApp: Sendable, Hashable {
    package var bundleID: String
    package var appAppleID: Int64
    package var environment: AppStoreEnvironment
    /// The `AppStore.deviceVerificationID` of the customer's device.
    package var deviceVerificationID: UUID

    package init(
        bundleID: String = "com.example.calculator", appAppleID: Int64 = 828_838_134,
        environment: AppStoreEnvironment = .production, deviceVerificationID: UUID = MintedApp.device
    ) {
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.environment = environment
        self.deviceVerificationID = deviceVerificationID
    }

    /// When the test customer bought the app: 2014-09-06T10:00:00Z.
    static let purchaseDate = Date(timeIntervalSince1970: 1_409_997_600)
    /// When the test customer bought the product `everything`: 2015-07-01T10:00:00Z.
    static let everythingDate = Date(timeIntervalSince1970: 1_435_744_800)
    /// The default device of a test customer.
    package static let device = UUID(uuid: (0xD1, 0xCE, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0x01))
}
