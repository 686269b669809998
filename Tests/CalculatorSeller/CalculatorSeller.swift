package import Foundation
package import TenureAppStore
import TenureCore
package import TenureMint

@testable package import LocalAppStore

/// An invented app and its products, for tests of the local App Store and of StoreKit.
package protocol CalculatorSeller {}

extension CalculatorSeller {
    package static var bundleID: String { "com.example.calculator" }
    package static var everything: String { "com.example.calculator.everything" }
    package static var coins: String { "com.example.calculator.coins" }
    package static var season: String { "com.example.calculator.season" }
    package static var monthly: String { "com.example.calculator.monthly" }
    /// The ID of the subscription group, which is a number in App Store Connect.
    package static var group: String { "20828838" }
    package static var yearly: String { "com.example.calculator.yearly" }
    package static var pro: String { "com.example.calculator.pro" }

    /// One authority for all tests, because creating RSA keys takes time.
    package static var authority: TestAuthority { sharedAuthority }
    package static var verifier: AppStoreVerifier { sharedVerifier }

    package static func date(_ text: String) -> Date { Date(written: text) ?? .distantPast }

    package static func app(gracePeriodDays: Int? = nil, url: String? = nil) -> AppStoreApp {
        AppStoreApp(
            bundleID: bundleID, appAppleID: 828_838_134,
            releases: [
                AppStoreRelease(platform: .iOS, build: "37", version: "1.4", releasedAt: date("2014-01-10")),
                AppStoreRelease(platform: .macOS, build: "900", version: "1.9", releasedAt: date("2014-02-01")),
                AppStoreRelease(platform: .iOS, build: "120", version: "2.0", releasedAt: date("2015-06-10T18:00:00Z")),
            ],
            prices: [
                AppPrice(from: date("2014-01-10"), price: 4990), AppPrice(from: date("2015-06-10T18:00:00Z"), price: 0),
            ],
            products: [
                AppStoreProduct(
                    id: everything, type: .nonConsumable, price: 9990, prices: ["DEU": 10990], isFamilyShareable: true),
                AppStoreProduct(id: coins, type: .consumable, price: 990),
                AppStoreProduct(id: season, type: .nonRenewing, price: 2990),
                AppStoreProduct(
                    id: monthly, type: .autoRenewable, price: 1990, group: group, level: 2,
                    period: CalendarPeriod(months: 1), isFamilyShareable: true,
                    offers: [
                        SubscriptionOffer(type: .introductory, discount: .freeTrial, period: CalendarPeriod(days: 7)),
                        SubscriptionOffer(
                            id: "comeback", type: .winBack, discount: .payAsYouGo, period: CalendarPeriod(months: 1),
                            count: 2, price: 990),
                        SubscriptionOffer(
                            id: "thanks", type: .promotional, discount: .payUpFront,
                            period: CalendarPeriod(months: 3), price: 2990),
                    ]),
                AppStoreProduct(
                    id: yearly, type: .autoRenewable, price: 19990, group: group, level: 2,
                    period: CalendarPeriod(months: 12)),
                AppStoreProduct(
                    id: pro, type: .autoRenewable, price: 4990, group: group, level: 1,
                    period: CalendarPeriod(months: 1)),
            ], gracePeriodDays: gracePeriodDays, notificationURL: url)
    }
}

private let sharedAuthority: TestAuthority = {
    do {
        return try TestAuthority()
    } catch {
        fatalError("no test authority can be made: \(error)")
    }
}()

private let sharedVerifier: AppStoreVerifier = {
    do {
        let anchors = try sharedAuthority.anchors
        return AppStoreVerifier(
            app: AppIdentity(bundleID: "com.example.calculator", appAppleID: 828_838_134),
            trust: try TrustConfiguration(anchors: [.production: anchors, .sandbox: anchors]))
    } catch {
        fatalError("the authority's roots cannot be trusted: \(error)")
    }
}()
