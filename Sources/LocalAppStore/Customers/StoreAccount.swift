package import Foundation

/// An Apple Account of the local store.
package struct StoreAccount: Sendable, Hashable {
    package let name: String
    package var storefront: Storefront
    /// The name of the family, where there is one.
    package var family: String?
    /// `AppStore.deviceVerificationID` of each device, the first one first.
    package var devices: [UUID]
    /// False: whatever is charged fails.
    package var billingWorks = true
    /// Places in the world's lists.
    package var acquisitions: [Int] = []
    package var transactions: [Int] = []
    package var subscriptions: [Int] = []
}
