package import Foundation

/// An Apple Account of the local store.
package struct StoreAccount: Sendable, Hashable {
    package let name: String
    package var storefront: Storefront
    /// The name of the family, if any.
    package var family: String?
    /// `AppStore.deviceVerificationID` of each device, the first one first.
    package var devices: [UUID]
    /// False: every charge fails.
    package var billingWorks = true
    /// Indexes in the store's lists.
    package var acquisitions: [Int] = []
    package var transactions: [Int] = []
    package var subscriptions: [Int] = []
}
