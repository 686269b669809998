package import Foundation

/// An Apple Account of the local store.
package struct StoreAccount: Sendable, Hashable {
    let name: String
    var storefront: Storefront
    /// The name of the family, if any.
    var family: String?
    /// `AppStore.deviceVerificationID` of each device, the first one first.
    package var devices: [UUID]
    /// Whether charges succeed. If false, every charge fails.
    var billingWorks = true
    /// Indexes in the store's lists.
    var acquisitions: [Int] = []
    var transactions: [Int] = []
    var subscriptions: [Int] = []
}
