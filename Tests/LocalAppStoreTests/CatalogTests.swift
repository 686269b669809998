import CalculatorSeller
import Foundation
import TenureAppStore
import TenureCore
import Testing

@testable import LocalAppStore

/// What a local App Store sells, where, and when.
@Suite struct `the catalog of the local App Store` {
    @Test func `each storefront has Apple's number and its country's currency`() {
        let storefronts = [
            "USA 143441 USD", "FRA 143442 EUR", "DEU 143443 EUR", "GBR 143444 GBP", "AUT 143445 EUR",
            "ITA 143450 EUR", "NLD 143452 EUR", "ESP 143454 EUR", "CAN 143455 CAD", "SWE 143456 SEK",
            "CHE 143459 CHF", "AUS 143460 AUD", "JPN 143462 JPY", "CHN 143465 CNY", "KOR 143466 KRW",
            "IND 143467 INR", "MEX 143468 MXN", "POL 143478 PLN", "TUR 143480 TRY", "BRA 143503 BRL",
        ]
        #expect(Storefront.all.map { "\($0.code) \($0.id) \($0.currency)" } == storefronts)
        #expect(Storefront(code: "SWE")?.id == "143456" && Storefront(code: "swe") == nil)
    }

    @Test func `an app has its new price and its new release from their instant on`() throws {
        let app = Shop.app()
        let dates = [
            "2014-01-09T23:59:59Z", "2014-01-10T00:00:00Z", "2015-06-10T17:59:59Z", "2015-06-10T18:00:00Z",
        ].map(Shop.date)
        #expect(dates.map { app.price(at: $0) } == [0, 4990, 4990, 0])
        #expect(dates.map { app.release(for: .iOS, at: $0)?.build } == [nil, "37", "37", "120"])
        // The Mac has separate releases, so it never gets those of iOS.
        #expect(dates.map { app.release(for: .macOS, at: $0)?.build } == [nil, nil, "900", "900"])
        var state = Shop.state(at: "2015-06-10T17:59:59Z")
        for name in ["Ada", "Byron"] { try state.addCustomer(name) }
        try state.acquire("Ada")
        state.advance(to: Shop.date("2015-06-10T18:00:00Z"))
        try state.acquire("Byron")
        #expect(state.acquisitions.map(\.price) == [4990, 0])
    }

    @Test func `visionOS and tvOS run the releases of iOS, unless the app has separate releases for them`() throws {
        var app = Shop.app()
        app.releases.append(
            AppStoreRelease(platform: .visionOS, build: "130", version: "2.1", releasedAt: Shop.date("2024-02-02")))
        var state = AppStoreState(seed: "vision", startingAt: Shop.date("2024-02-01"), apps: [app])
        for name in ["Ada", "Byron", "Cleo"] { try state.addCustomer(name) }
        #expect(
            throws: AppStoreStateError.notReleased(app: Shop.bundleID, platform: .visionOS, Shop.date("2024-02-01"))
        ) { try state.acquire("Ada", on: .visionOS) }
        try state.acquire("Byron", on: .tvOS)
        // A named release may be of iOS.
        try state.acquire("Cleo", on: .visionOS, release: "37")
        state.advance(to: Shop.date("2024-02-02"))
        try state.acquire("Ada", on: .visionOS)
        #expect(state.acquisitions.map(\.platform) == [.tvOS, .visionOS, .visionOS])
        #expect(state.acquisitions.map(\.release.build) == ["120", "37", "130"])
        let payload = try Shop.payload(state, "Ada")
        #expect(payload.originalApplicationVersion == "130" && payload.originalPlatform?.rawValue == "visionOS")
        #expect(throws: AppStoreStateError.noRelease(app: Shop.bundleID, platform: .macOS, named: "120")) {
            try state.addCustomer("Mac")
            try state.acquire("Mac", on: .macOS, release: "120")
        }
    }

    @Test func `of several builds of a version, a customer on the Mac gets the latest that is on sale`() throws {
        var app = Shop.app()
        for (build, day) in [("901", "2014-03-01"), ("902", "2014-10-01")] {
            app.releases.append(
                AppStoreRelease(platform: .macOS, build: build, version: "1.9", releasedAt: Shop.date(day)))
        }
        var state = AppStoreState(seed: "builds", startingAt: Shop.date("2014-09-06"), apps: [app])
        try state.addCustomer("Boris")
        try state.acquire("Boris", on: .macOS, release: "1.9")
        #expect(state.acquisitions[0].release.build == "901")
    }

    @Test func `only a subscription has a group, which is its ID by default, and a period of a month by default`() {
        func product(_ type: ProductType, group: String? = nil, period: CalendarPeriod? = nil) -> AppStoreProduct {
            AppStoreProduct(id: "x", type: type, price: 1, group: group, period: period)
        }
        for type in [ProductType.consumable, .nonConsumable, .nonRenewing] {
            let other = product(type, group: "plans", period: CalendarPeriod(days: 7))
            #expect(other.group == nil && other.period == nil, "\(type)")
        }
        let (plain, full) = (
            product(.autoRenewable), product(.autoRenewable, group: "plans", period: CalendarPeriod(days: 7))
        )
        #expect(plain.group == "x" && plain.period == CalendarPeriod(months: 1))
        #expect(full.group == "plans" && full.period == CalendarPeriod(days: 7))
        #expect(plain.level == 1 && plain.isOnSale && !plain.isFamilyShareable && plain.offers.isEmpty)
    }

    @Test func `a length of time in a journal that can't be read is refused with an example`() {
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([CalendarPeriod].self, from: Data(#"["P1M","a month"]"#.utf8))
        }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.debugDescription == "`a month` isn't a calendar length such as `P1M`")
    }

    @Test func `each reason against an operation names what is missing, and what to do`() {
        let (ada, id) = ("Ada", "com.example.key")
        let codes = "USA, FRA, DEU, GBR, AUT, ITA, NLD, ESP, CAN, SWE, CHE, AUS, JPN, CHN, KOR, IND, MEX, POL, TUR, BRA"
        let reasons: [(AppStoreStateError, String)] = [
            (.noApp(id), "the local App Store has no app `com.example.key`; name an app that its scenario defines"),
            (.whichApp, "the local App Store doesn't have exactly one app; name an app with `app`"),
            (.noCustomer(ada), "there is no customer `Ada`; create the customer with the operation `customer`"),
            (.customerExists(ada), "there already is a customer `Ada`; use another name"),
            (
                .noStorefront("XXX"),
                "`XXX` isn't a storefront of the local App Store; use one of \(codes)"
            ),
            (
                .noProduct(id),
                "the local App Store has no product `com.example.key`; name a product that its scenario defines"
            ),
            (.notForSale(product: id), "`com.example.key` isn't on sale anymore; put it on sale with `offerAgain`"),
            (
                .noRelease(app: id, platform: .macOS, named: "9"),
                "`com.example.key` never had a release `9` for macOS; name a release that its scenario defines"
            ),
            (
                .hasNoApp(customer: ada, app: id),
                "`Ada` doesn't have `com.example.key`; let the customer acquire it first"
            ),
            (
                .hasApp(customer: ada, app: id),
                "`Ada` has `com.example.key` already; use `update` for a newer release"
            ),
            (
                .neverBought(customer: ada, product: id),
                "`Ada` never bought `com.example.key`; let the customer buy it first"
            ),
            (
                .hasSubscription(customer: ada, product: id),
                """
                `Ada` has a subscription in the group of `com.example.key` already; change the plan of that subscription \
                instead
                """
            ),
            (
                .noSubscription(customer: ada, product: id),
                "`Ada` has no subscription in the group of `com.example.key`; let the customer buy one first"
            ),
            (
                .noOffer(product: id, offer: "o"),
                "`com.example.key` has no offer `o`; name an offer that the scenario defines"
            ),
            (
                .notEligible(customer: ada, offer: "o"),
                "`Ada` isn't eligible for the offer `o`; buy without the offer, or as another customer"
            ),
            (.noFamily(customer: ada), "`Ada` isn't in a family; create the customer with a `family`"),
            (
                .wrongState(customer: ada, product: id, must: "be refunded"),
                "`com.example.key` of `Ada` isn't in the right state for this operation: it must be refunded"
            ),
            (
                .appNotBought(customer: ada, app: id),
                """
                `com.example.key` can't be refunded to `Ada`, who didn't pay for it or has a refund already; name another \
                customer
                """
            ),
            (.billingFails(customer: ada), "every charge of `Ada` fails; perform `recover` first"),
        ]
        for (reason, text) in reasons { #expect(reason.description == text) }
    }
}
