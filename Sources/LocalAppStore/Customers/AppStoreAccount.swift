package import Foundation

/// A customer of the local App Store: an Apple Account with its devices.
package struct AppStoreAccount: Sendable, Hashable {
    /// The name by which operations select the customer.
    let name: String
    var storefront: Storefront
    /// The name of the account's family in Family Sharing; nil without a family.
    var family: String?
    /// `AppStore.deviceVerificationID` of each device, starting with the first device.
    package var devices: [UUID]
    /// Whether the account can pay. If false, every charge fails.
    var billingWorks = true
    /// The indexes of the account's acquisitions, transactions and subscriptions in the lists of `AppStoreState`.
    var acquisitions: [Int] = []
    var transactions: [Int] = []
    var subscriptions: [Int] = []
}
