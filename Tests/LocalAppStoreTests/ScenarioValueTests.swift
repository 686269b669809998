import CalculatorSeller
import Foundation
import TenureAppStore
import TenureCore
import TenureMint
import TenurePolicyFile
import Testing

@testable import LocalAppStore

/// Every value of a scenario's file, and the texts of expectations that aren't met.
@Suite struct `Values of a scenario` {
    private func read(_ text: String) throws -> Scenario {
        try ScenarioReader.read(Array(text.utf8), named: "s.yaml")
    }

    @Test func `every value in a scenario's file reaches the local App Store`() throws {
        let id = Shop.bundleID
        let scenario = try read(
            """
            scenario: Values
            seed: fixed
            environment: Sandbox
            begins: 2014-03-01
            app:
              bundleID: \(id)
              appleID: 828838134
              gracePeriodDays: 28
              releases:
                - { platform: macOS, build: "900", version: "1.9", at: 2014-02-01 }
                - { platform: iOS, build: "37", version: "1.4", at: 2014-01-10T08:00:00Z }
              prices: [{ from: 2014-06-01, price: free }, { from: 2014-01-10, price: 4.99 }]
              products:
                \(id).key: { type: nonConsumable, price: 9.99, prices: { DEU: 10.99 }, familyShareable: true }
                \(id).plan:
                  type: autoRenewable
                  price: 1.99
                  group: plans
                  level: 2
                  period: P3M
                  introductory: { discount: freeTrial, period: P7D }
                  offers: [{ id: back, type: winBack, discount: payAsYouGo, period: P1M, count: 36, price: 0.99 }]
                \(id).news: { type: autoRenewable, price: 0.99 }
            customers: { Ada: { storefront: DEU, family: Lovelace, shows: both }, Byron: {} }
            timeline:
              - { at: 2014-03-02, service: catchesUp }
            """)
        #expect(scenario.name == "Values" && scenario.header.seed == "fixed")
        #expect(scenario.header.environment == .sandbox && scenario.header.now == Shop.date("2014-03-01"))
        let app = try #require(scenario.header.apps.first)
        #expect(app.bundleID == id && app.appAppleID == 828_838_134 && app.gracePeriodDays == 28)
        #expect(
            app.releases == [
                AppStoreRelease(
                    platform: .iOS, build: "37", version: "1.4", releasedAt: Shop.date("2014-01-10T08:00:00Z")),
                AppStoreRelease(platform: .macOS, build: "900", version: "1.9", releasedAt: Shop.date("2014-02-01")),
            ])
        #expect(
            app.prices == [
                AppPrice(from: Shop.date("2014-01-10"), price: 4990), AppPrice(from: Shop.date("2014-06-01"), price: 0),
            ])
        let key = AppStoreProduct(
            id: id + ".key", type: .nonConsumable, price: 9990, prices: ["DEU": 10990], isFamilyShareable: true)
        let plan = AppStoreProduct(
            id: id + ".plan", type: .autoRenewable, price: 1990, group: "plans", level: 2,
            period: CalendarPeriod(months: 3),
            offers: [
                SubscriptionOffer(
                    id: "back", type: .winBack, discount: .payAsYouGo, period: CalendarPeriod(months: 1), count: 36,
                    price: 990),
                SubscriptionOffer(type: .introductory, discount: .freeTrial, period: CalendarPeriod(days: 7)),
            ])
        // Without a group, a subscription is alone in its group. Without a period, it renews each month.
        let news = AppStoreProduct(
            id: id + ".news", type: .autoRenewable, price: 990, group: id + ".news", level: 1,
            period: CalendarPeriod(months: 1))
        #expect(app.products == [key, plan, news])
        #expect(
            scenario.customers == [
                Scenario.Customer(name: "Ada", storefront: "DEU", family: "Lovelace", shows: .both),
                Scenario.Customer(name: "Byron", storefront: "USA", family: nil, shows: .appTransaction),
            ])
        let step = try #require(scenario.timeline.first)
        #expect(step.time == .at(Shop.date("2014-03-02")) && step.events.count == 1)
        guard case .catchUp? = step.events.first else { throw NothingThere() }
    }

    @Test(arguments: [(2, false), (3, true), (4, false), (15, false), (16, true), (17, false), (28, true), (29, false)])
    func `an app's grace period has 3, 16 or 28 days`(days: Int, isPossible: Bool) throws {
        let text = """
            scenario: Grace
            begins: 2014-03-01
            app: { bundleID: com.example.calculator, appleID: 1, gracePeriodDays: \(days), releases: [] }
            customers: { Ada: {} }
            """
        guard isPossible else {
            let error = #expect(throws: PolicyFileError.self) { try read(text) }
            let advice = "the App Store has grace periods of 3, 16 and 28 days; write one of these numbers"
            #expect(error?.mistakes.map { $0.description.hasSuffix(advice) } == [true])
            return
        }
        #expect(try read(text).header.apps.first?.gracePeriodDays == days)
    }

    @Test(arguments: [(0, false), (1, true), (36, true), (37, false)])
    func `an offer has 1 to 36 periods`(count: Int, isPossible: Bool) throws {
        let offer = "{ discount: payAsYouGo, period: P1M, count: \(count), price: 0.99 }"
        let plan = "{ type: autoRenewable, price: 1.99, introductory: \(offer) }"
        let text = """
            scenario: Offers
            begins: 2014-03-01
            app: { bundleID: com.example.calculator, appleID: 1, releases: [], products: { plan: \(plan) } }
            customers: { Ada: {} }
            timeline: []
            """
        guard isPossible else {
            let error = #expect(throws: PolicyFileError.self) { try read(text) }
            let advice = "an offer has 1 to 36 periods; write `1`"
            #expect(error?.mistakes.map { $0.description.hasSuffix(advice) } == [true])
            return
        }
        #expect(try read(text).header.apps.first?.products.first?.offers.map(\.count) == [count])
    }

    @Test(arguments: [
        "platform: iOS", #"build: "37""#, #"version: "1.4""#, "at: 2014-01-10", "from: 2014-01-10", "price: 4.99",
        "type: nonConsumable", "price: 9.99", "discount: freeTrial", "period: P1W", "begins: 2014-01-01",
        "customers: { Ada: {} }", "bundleID: com.example.calculator", "appleID: 828838134",
    ])
    func `a scenario, app, release, price, product or offer without one of its keys is a mistake`(field: String) throws
    {
        func text(without field: String?) -> String {
            func mapping(_ fields: String...) -> String {
                "{ " + fields.filter { $0 != field }.joined(separator: ", ") + " }"
            }
            let offer = mapping("discount: freeTrial", "period: P1W")
            let lines = """
                scenario: Missing
                begins: 2014-01-01
                app:
                  bundleID: com.example.calculator
                  appleID: 828838134
                  releases: [\(mapping("platform: iOS", #"build: "37""#, #"version: "1.4""#, "at: 2014-01-10"))]
                  prices: [\(mapping("from: 2014-01-10", "price: 4.99"))]
                  products:
                    com.example.calculator.key: \(mapping("type: nonConsumable", "price: 9.99"))
                    com.example.calculator.plan: { type: autoRenewable, price: 1.99, introductory: \(offer) }
                customers: { Ada: {} }
                """.split(separator: "\n")
            return lines.filter { $0.trimmingCharacters(in: .whitespaces) != field }.joined(separator: "\n")
        }
        let app = try #require(try read(text(without: nil)).header.apps.first)
        #expect(app.releases.count == 1 && app.prices.count == 1 && app.products.count == 2)
        let error = #expect(throws: PolicyFileError.self) { try read(text(without: field)) }
        let key = field.prefix { $0 != ":" }
        let mistakes = error?.mistakes.map(\.description) ?? []
        #expect(mistakes.count == 1, "\(mistakes)")
        #expect(mistakes.first?.hasSuffix("`\(key)` is missing; write `\(field)`") == true, "\(mistakes)")
    }

    @Test func `an expectation that isn't met says what the service decided, or what it doesn't know`() async throws {
        let scenario = try read(
            """
            scenario: Differences
            begins: 2014-03-01
            app:
              bundleID: com.example.calculator
              appleID: 828838134
              releases: [{ platform: iOS, build: "37", version: "1.4", at: 2014-01-10 }]
            customers: { Ada: {}, Otto: {} }
            timeline:
              - at: 2014-05-01
                Ada: acquires
                known: { Otto: { everything: denied } }
                expect: { Ada: { everything: denied, sync: granted, cloud: denied } }
            """)
        let policy = try PolicyFile.read(
            """
            app: { bundleID: com.example.calculator, appleID: 828838134 }
            eras:
              - { name: paid, model: paid }
              - { name: free, model: free, begins: { iOS: { build: "120", at: 2015-06-10T18:00:00Z } }, changeover: none }
            buildNumbers: increasing
            entitlements:
              everything: { products: [com.example.calculator.everything], honors: [paid] }
              cloud: { products: [com.example.calculator.yearly] }
            """, named: "policy.yaml")
        let service = try DecidingService(policy: policy, anchors: Shop.authority.anchors, environment: .production)
        let outcomes = try await ScenarioRun(scenario, signer: Shop.signer, service: service).play()
        #expect(
            outcomes.map(\.difference) == [
                "the service doesn't know `Otto`", "Ada, everything: expected denied, got granted",
                "there is no entitlement `sync`", nil,
            ])
        #expect(outcomes.map(\.date) == Array(repeating: Shop.date("2014-05-01"), count: 4))
    }
}
