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
    /// The URL to which App Store Server Notifications of this app are posted. Nil posts none.
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
        let hasOwn = releases.contains { $0.platform == platform }
        return latest(platform) ?? (!hasOwn && platform.inheritsFromIOS ? latest(.iOS) : nil)
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

/// A country's App Store: its code (ISO 3166-1 alpha-3), Apple's number for it, and its currency (ISO 4217).
struct Storefront: Sendable, Hashable {
    let code: String
    let id: String
    let currency: String

    private init(_ code: String, _ id: Int, _ currency: String) {
        self.code = code
        self.id = String(id)
        self.currency = currency
    }

    /// The storefronts that the local App Store has.
    static let all: [Storefront] = [
        Storefront("USA", 143441, "USD"), Storefront("FRA", 143442, "EUR"), Storefront("DEU", 143443, "EUR"),
        Storefront("GBR", 143444, "GBP"), Storefront("AUT", 143445, "EUR"), Storefront("ITA", 143450, "EUR"),
        Storefront("NLD", 143452, "EUR"), Storefront("ESP", 143454, "EUR"), Storefront("CAN", 143455, "CAD"),
        Storefront("SWE", 143456, "SEK"), Storefront("CHE", 143459, "CHF"), Storefront("AUS", 143460, "AUD"),
        Storefront("JPN", 143462, "JPY"), Storefront("CHN", 143465, "CNY"), Storefront("KOR", 143466, "KRW"),
        Storefront("IND", 143467, "INR"), Storefront("MEX", 143468, "MXN"), Storefront("POL", 143478, "PLN"),
        Storefront("TUR", 143480, "TRY"), Storefront("BRA", 143503, "BRL"),
    ]

    /// The storefront of customers for whom no other is named.
    static let usa = Storefront("USA", 143441, "USD")

    /// Finds a storefront by its code; nil if the local App Store doesn't have it.
    init?(code: String) {
        guard let storefront = Self.all.first(where: { $0.code == code }) else { return nil }
        self = storefront
    }
}
