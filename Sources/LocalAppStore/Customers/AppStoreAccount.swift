package import Foundation
import TenureCore

/// A customer of the local App Store: an Apple Account with its devices.
package struct AppStoreAccount: Sendable, Hashable {
    /// The name by which operations select the customer.
    let name: String
    var storefront: Storefront
    /// The name of the account's family in Family Sharing; nil without a family.
    var family: String?
    /// `AppStore.deviceVerificationID` of each device. `DeviceArtifacts` are from the first.
    package var devices: [UUID]
    /// Whether the account can pay. If false, every charge fails.
    var billingWorks = true
    // The indexes of the account's acquisitions, transactions and subscriptions in the lists of `AppStoreState`.
    var acquisitions: [Int] = []
    var transactions: [Int] = []
    var subscriptions: [Int] = []
}

/// One account's acquisition of an app. An account acquires an app once, however often the app is downloaded or bought
/// again.
package struct AppStoreAcquisition: Sendable, Hashable {
    /// How the account got the app.
    package enum Way: String, CaseIterable, Sendable, Hashable {
        case purchase, promoCode, volumePurchase
    }

    // The indexes of the acquisition, the account and the app in the lists of `AppStoreState`.
    package let index: Int
    let account: Int
    let app: Int
    /// The platform, the release and the date with which the account first got the app.
    let platform: Platform
    let release: AppStoreRelease
    let date: Date
    var way: Way
    /// What the account paid, in milliunits (thousandths of the currency's unit). No artifact contains it.
    var price: Int64
    /// The date of the preorder; nil if the app wasn't preordered.
    let preorderDate: Date?
    /// The end of the license from a volume purchase. Nil for other acquisitions, and for a license without an end.
    let licenseEnds: Date?
    /// The date of the refund. Nil if the app wasn't refunded, or was acquired again afterward.
    var refundedAt: Date?
    /// The date at which the app was acquired again after the last refund; nil if that never happened.
    var gotAgainAt: Date?
    /// The platform and release that run on the account's devices.
    var installedPlatform: Platform
    var installedRelease: AppStoreRelease
}
