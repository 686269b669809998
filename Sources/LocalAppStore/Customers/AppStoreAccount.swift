package import Foundation

/// A customer of the local App Store: an Apple Account with its devices.
package struct AppStoreAccount: Sendable, Hashable {
    let name: String
    var storefront: Storefront
    /// The name of the family, if any.
    var family: String?
    /// `AppStore.deviceVerificationID` of each device, starting with the first device.
    package var devices: [UUID]
    /// Whether charges succeed. If false, every charge fails.
    var billingWorks = true
    /// Indexes of the account's entries in the lists of `AppStoreState` with the same names.
    var acquisitions: [Int] = []
    var transactions: [Int] = []
    var subscriptions: [Int] = []
}
