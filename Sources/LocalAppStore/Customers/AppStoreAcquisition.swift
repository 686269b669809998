import Foundation
import TenureCore

/// One account's acquisition of an app. An account acquires an app once, however often the app is downloaded or bought
/// again.
package struct AppStoreAcquisition: Sendable, Hashable {
    /// How the account got the app.
    package enum Way: String, CaseIterable, Sendable, Hashable {
        case purchase, promoCode, volumePurchase
    }

    /// The indexes of the acquisition, the account and the app in the lists of `AppStoreState`.
    package let index: Int
    let account: Int
    let app: Int
    /// The platform and release when the account first got the app.
    let platform: Platform
    let release: AppStoreRelease
    let date: Date
    var way: Way
    /// The price in milliunits. No artifact of the App Store contains it.
    var price: Int64
    let preorderDate: Date?
    /// The end of the license, if the license came from a volume purchase.
    let licenseEnds: Date?
    /// The date of the refund, while the app is refunded.
    var refundedAt: Date?
    /// The date at which the app was acquired again after the last refund.
    var gotAgainAt: Date?
    /// The platform and release that the device runs.
    var installedPlatform: Platform
    var installedRelease: AppStoreRelease
}
