import Foundation
import LocalAppStore
import StoreKit
import TenureAppStore
import TenureCore
import TenureMint

/// An invented app in a local store of its own, and devices in front of it.
struct Kiosk {
    static let authority: TestAuthority = {
        do {
            return try TestAuthority(seed: "StoreKit tests")
        } catch {
            fatalError("no test authority can be made: \(error)")
        }
    }()

    static let bundleID = "com.example.calculator"
    static let everything = "com.example.calculator.everything"
    static let coins = "com.example.calculator.coins"
    static let season = "com.example.calculator.season"
    static let monthly = "com.example.calculator.monthly"
    static let yearly = "com.example.calculator.yearly"
    static let pro = "com.example.calculator.pro"

    static let verifier: AppStoreVerifier = {
        do {
            return AppStoreVerifier(
                app: AppIdentity(bundleID: bundleID, appAppleID: 828_838_134),
                trust: try TrustConfiguration(anchors: [.production: try authority.anchors]))
        } catch {
            fatalError("the authority's roots cannot be trusted: \(error)")
        }
    }()

    let store: LocalAppStore

    /// With Ada, who bought build 37 on the day on which the world begins.
    init(
        _ environment: AppStoreEnvironment = .production, at now: String = "2014-09-06T10:00:00Z",
        gracePeriodDays: Int? = nil, owner: String? = "Ada"
    ) async throws {
        let world = World(
            seed: "StoreKit", environment: environment, startingAt: Self.date(now),
            apps: [Self.app(gracePeriodDays: gracePeriodDays)])
        store = LocalAppStore(world, signer: StoreSigner(authority: Self.authority)) { _, _, _ in .success }
        if let owner {
            try await act(.customer, owner)
            try await act(.acquire, owner)
        }
    }

    func act(_ verb: Verb, _ customer: String? = nil, _ particulars: [Particular: String] = [:]) async throws {
        var particulars = particulars
        particulars[.customer] = customer
        try await store.perform(Act(verb, particulars))
    }

    func buy(_ product: String, _ customer: String = "Ada") async throws {
        try await act(.buy, customer, [.product: product])
    }

    func advance(_ length: String) async throws { try await act(.advance, nil, [.by: length]) }

    func device(_ customer: String? = "Ada", named name: String = "first") async throws -> LocalStore {
        try await LocalStore(store, customer: customer, device: name)
    }

    static func date(_ text: String) -> Date { Date(written: text) ?? .distantPast }

    static func app(gracePeriodDays: Int?) -> StoreApp {
        StoreApp(
            bundleID: bundleID, appAppleID: 828_838_134,
            releases: [
                StoreRelease(platform: .iOS, build: "37", version: "1.4", releasedAt: date("2014-01-10")),
                StoreRelease(platform: .macOS, build: "900", version: "1.9", releasedAt: date("2014-02-01")),
                StoreRelease(platform: .iOS, build: "120", version: "2.0", releasedAt: date("2015-06-10T18:00:00Z")),
            ],
            prices: [
                AppPrice(from: date("2014-01-10"), price: 4990), AppPrice(from: date("2015-06-10T18:00:00Z"), price: 0),
            ],
            products: [
                StoreProduct(
                    id: everything, type: .nonConsumable, price: 9990, prices: ["DEU": 10990], isFamilyShareable: true),
                StoreProduct(id: coins, type: .consumable, price: 990),
                StoreProduct(id: season, type: .nonRenewing, price: 2990),
                StoreProduct(
                    id: monthly, type: .autoRenewable, price: 1990, group: "plans", level: 2,
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
                StoreProduct(
                    id: yearly, type: .autoRenewable, price: 19990, group: "plans", level: 2,
                    period: CalendarPeriod(months: 12)),
                StoreProduct(
                    id: pro, type: .autoRenewable, price: 4990, group: "plans", level: 1,
                    period: CalendarPeriod(months: 1)),
            ], gracePeriodDays: gracePeriodDays)
    }
}

/// What the customer may use now, as an app asks for it.
func entitledProducts() async -> [String] {
    var products: [String] = []
    for await result in StoreKit.Transaction.currentEntitlements {
        products.append(result.unsafePayloadValue.productID)
    }
    return products.sorted()
}

extension VerificationResult {
    var isVerified: Bool { if case .verified = self { true } else { false } }

    var problem: VerificationError? { if case .unverified(_, let error) = self { error } else { nil } }
}
