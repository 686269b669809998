package import Foundation
package import TenureCore

/// An app in the catalog, with all releases and prices.
package struct AppStoreApp: Codable, Sendable, Hashable {
    package var bundleID: String
    var appAppleID: Int64
    /// The releases, in the order in which they went on sale.
    var releases: [AppStoreRelease]
    /// The prices, in the order in which they take effect.
    var prices: [AppPrice]
    var products: [AppStoreProduct]
    /// How many days a customer keeps a subscription that can't be charged; nil if the app has no Billing Grace Period.
    var gracePeriodDays: Int?
    /// The URL to which notifications are posted; nil if they aren't posted.
    package var notificationURL: String?

    package init(
        bundleID: String, appAppleID: Int64, releases: [AppStoreRelease], prices: [AppPrice] = [],
        products: [AppStoreProduct] = [], gracePeriodDays: Int? = nil, notificationURL: String? = nil
    ) {
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.releases = releases.sorted { $0.releasedAt < $1.releasedAt }
        self.prices = prices.sorted { $0.from < $1.from }
        self.products = products
        self.gracePeriodDays = gracePeriodDays
        self.notificationURL = notificationURL
    }

    /// The release on sale for a platform. tvOS and visionOS use iOS releases if they have none.
    func release(for platform: Platform, at date: Date) -> AppStoreRelease? {
        func latest(_ platform: Platform) -> AppStoreRelease? {
            releases.last { $0.platform == platform && $0.releasedAt <= date }
        }
        let hasOwn = releases.contains { $0.platform == platform }
        return latest(platform) ?? (!hasOwn && platform.inheritsFromIOS ? latest(.iOS) : nil)
    }

    /// Returns the price in milliunits. The app is free if it has no price.
    func price(at date: Date) -> Int64 { prices.last { $0.from <= date }?.price ?? 0 }
}

/// One build that customers could get.
package struct AppStoreRelease: Codable, Sendable, Hashable {
    var platform: Platform
    /// CFBundleVersion.
    var build: String
    /// CFBundleShortVersionString.
    var version: String
    package var releasedAt: Date

    /// The version by which the App Store identifies the release: the build; on macOS, the marketing version.
    func reportedVersion(on platform: Platform) -> String {
        platform.versionKey == .shortVersionString ? version : build
    }
}

/// The app's price from an instant on.
package struct AppPrice: Codable, Sendable, Hashable {
    var from: Date
    /// The price in milliunits of the storefront's currency; 0 is free.
    var price: Int64
}

extension Platform: Codable {}
