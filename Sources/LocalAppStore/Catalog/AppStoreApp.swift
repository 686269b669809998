package import Foundation
package import TenureCore

/// An app that the local App Store sells, with its releases, prices and in-app purchases.
package struct AppStoreApp: Codable, Sendable, Hashable {
    package var bundleID: String
    /// Apple's numeric ID of the app, which artifacts contain as `appAppleId`.
    var appAppleID: Int64
    /// The releases, in the order in which they went on sale.
    var releases: [AppStoreRelease]
    /// The prices of the app itself, in the order in which they take effect. Empty for a free app.
    var prices: [AppPrice]
    /// The app's in-app purchases.
    var products: [AppStoreProduct]
    /// How many days a customer keeps access after a renewal couldn't be charged. Nil if the app has no Billing Grace
    /// Period.
    var gracePeriodDays: Int?
    /// The URL to which App Store Server Notifications of this app are posted. If nil, they aren't posted.
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

    /// Returns the latest release for a platform; nil if nothing is on sale yet. A platform that runs iOS apps gets iOS
    /// releases, unless the app has separate releases for the platform.
    func release(for platform: Platform, at date: Date) -> AppStoreRelease? {
        func latest(_ platform: Platform) -> AppStoreRelease? {
            releases.last { $0.platform == platform && $0.releasedAt <= date }
        }
        let hasSeparateReleases = releases.contains { $0.platform == platform }
        return latest(!hasSeparateReleases && platform.inheritsFromIOS ? .iOS : platform)
    }

    /// Returns the app's price at a date, in milliunits (thousandths of the currency's unit). 0 if the app had no price
    /// yet.
    func price(at date: Date) -> Int64 { prices.last { $0.from <= date }?.price ?? 0 }
}

/// One build of an app, which customers can get from `releasedAt` on.
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

/// An app's price, from `from` until the next price.
package struct AppPrice: Codable, Sendable, Hashable {
    var from: Date
    /// The price in milliunits (thousandths) of the storefront's currency; 0 is free.
    var price: Int64
}

extension Platform: Codable {
    /// The platforms on which the App Store says that an app was acquired: the four values of `AppStore.Platform` in
    /// StoreKit, which `originalPlatform` contains. An app for a watch is acquired on iOS.
    package static let ofAcquisitions: [Platform] = [.iOS, .macOS, .tvOS, .visionOS]
}
