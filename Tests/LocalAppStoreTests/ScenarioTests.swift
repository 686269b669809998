import CalculatorSeller
import Foundation
import TenureCore
import TenureMint
import TenurePolicyFile
import Testing

@testable import LocalAppStore

private let examples = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("../../Examples/scenarios").standardizedFileURL

private let names =
    (try? FileManager.default.contentsOfDirectory(atPath: examples.path))?
    .filter { $0.hasSuffix(".yaml") && !$0.hasSuffix(".policy.yaml") }.sorted() ?? []

private func play(_ scenario: Scenario, policy: String? = nil) async throws -> [ScenarioRun.Outcome] {
    let file = try #require(policy ?? scenario.policy)
    let policy = try PolicyFile.read(Array(Data(contentsOf: examples.appendingPathComponent(file))), named: file)
    let service = try DecidingService(
        policy: policy, anchors: Shop.authority.anchors, environment: scenario.header.environment)
    return try await ScenarioRun(scenario, signer: Shop.signer, service: service).play()
}

private func example(_ name: String) throws -> Scenario {
    try ScenarioReader.read(Array(Data(contentsOf: examples.appendingPathComponent(name))), named: name)
}

@Test func `Examples/scenarios has more than ten scenarios`() {
    #expect(names.count > 10)
}

@Test(arguments: names)
func `every scenario in Examples/scenarios gives its expected decisions`(_ name: String) async throws {
    let outcomes = try await play(try example(name))
    #expect(!outcomes.isEmpty)
    for outcome in outcomes {
        #expect(outcome.difference == nil, "\(outcome.expectation.position): \(outcome.difference ?? "")")
    }
}

@Test func `a scenario under another policy reports the customers who lose something`() async throws {
    let scenario = try example("calculator-disaster.yaml")
    let policy = try PolicyFile.read(
        """
        app: { bundleID: com.example.calculator, appleID: 828838134 }
        eras:
          - { name: paid, model: paid }
          - { name: freemium, model: free, begins: { iOS: { build: "38", at: 2014-06-10T18:00:00Z } }, changeover: none }
        buildNumbers: increasing
        entitlements:
          everything: { products: [com.example.calculator.everything], honors: [paid] }
          cloud: { products: [com.example.calculator.yearly] }
        """, named: "wrong.yaml")
    let service = try DecidingService(
        policy: policy, anchors: Shop.authority.anchors, environment: .production)
    let outcomes = try await ScenarioRun(scenario, signer: Shop.signer, service: service).play()
    let wrong = outcomes.filter { $0.difference != nil }
    #expect(Set(wrong.map(\.expectation.customer)) == ["Boris"])
}

@Test func `every mistake in a scenario has its line and column`() throws {
    let text = """
        scenario: Mistakes
        begins: 2014-01-01
        app:
          bundleID: com.example.calculator
          appleID: 1
          gracePeriodDays: 5
          releases: [{ platform: iPadOS, build: "37", version: "1.4", at: 2014-01-10 }]
          products:
            com.example.calculator.yearly: { type: subscription, price: ten }
        customers:
          Ada: { shows: everything }
          store: {}
        timeline:
          - at: 2014-05-01
            Ada: aquires
            Boris: acquires
          - Ada: { buys: com.example.calculator.yearly, quantity: many }
          - at: 2013-01-01
            Ada: { cancels: 3, price: 4 }
            store: { network: broken }
            expect: { Ada: { everything: yes }, Eve: { everything: granted } }
        """
    let error = #expect(throws: PolicyFileError.self) { try ScenarioReader.read(Array(text.utf8), named: "s.yaml") }
    let places = error?.mistakes.map { "\($0.position.line):\($0.position.column)" } ?? []
    #expect(
        places == [
            "6:20", "7:26", "9:44", "9:65", "11:17", "12:3", "15:10", "16:5", "17:5", "17:59", "18:9", "19:31",
            "20:23", "21:34", "21:41",
        ], "\(error?.description ?? "")")
}

@Test func `a scenario's mistakes in offers, storefronts and lengths of time say what to write instead`() {
    let text = """
        scenario: Mistakes
        begins: 2014-01-01
        environment: Sandbox
        sandbox: { month: 1m, days: 59s, waitingDay: 0s }
        app:
          bundleID: com.example.calculator
          appleID: 828838134
          releases: [{ platform: iOS, build: "37", version: "1.4", at: 2014-01-10 }]
          products:
            com.example.calculator.monthly:
              type: autoRenewable
              price: 1.99
              prices: { DEU: 2.99, Germany: 2.99 }
              period: P1M
              introductory: { discount: freeTrial, period: P7D }
              offers:
                - { id: comeback, discount: payAsYouGo, period: P1M }
                - { id: thanks, type: promotional, discount: payAsYouGo, period: P1M }
        customers: { Ada: {} }
        timeline:
          - at: 2014-05-01
            Ada: acquires
          - { after: -1d, Ada: updates }
          - { at: 2014-06-01, after: 1d, Ada: updates }
        """
    let error = #expect(throws: PolicyFileError.self) { try ScenarioReader.read(Array(text.utf8), named: "s.yaml") }
    let mistakes = error?.mistakes.map { $0.description.prefix { $0 != ";" } } ?? []
    #expect(
        mistakes == [
            "s.yaml:4:29: `days` is too short", "s.yaml:4:46: `waitingDay` is too short",
            "s.yaml:13:37: `Germany` isn't a storefront of the local App Store",
            "s.yaml:17:11: an offer needs `id` and `type`", "s.yaml:23:14: `after` can't be negative",
            "s.yaml:24:5: a step needs one of `at: 2014-05-01` and `after: 31d`",
        ])
}

@Test func `watchOS as a platform in a scenario is a mistake, and its message lists the valid platforms`() throws {
    let text = """
        scenario: A watch
        begins: 2014-01-01
        app:
          bundleID: com.example.calculator
          appleID: 828838134
          releases: [{ platform: watchOS, build: "37", version: "1.4", at: 2014-01-10 }]
        customers: { Ada: {} }
        timeline:
          - at: 2014-05-01
            Ada: { acquires: watchOS }
        """
    let error = #expect(throws: PolicyFileError.self) { try ScenarioReader.read(Array(text.utf8), named: "s.yaml") }
    let mistakes = error?.mistakes.map(\.description) ?? []
    #expect(mistakes.count == 2, "\(mistakes)")
    #expect(mistakes.allSatisfy { $0.contains("visionOS") && $0.contains("tvOS") })
}

@Test func `an impossible operation in a scenario is an error with its position`() async throws {
    let text = """
        scenario: Impossible
        begins: 2014-01-01
        app: { bundleID: com.example.calculator, appleID: 828838134, releases: [] }
        customers: { Ada: {} }
        timeline:
          - at: 2014-05-01
            Ada: acquires
        """
    let scenario = try ScenarioReader.read(Array(text.utf8), named: "s.yaml")
    let failure = await #expect(throws: ScenarioFailure.self) {
        _ = try await play(scenario, policy: "calculator.policy.yaml")
    }
    #expect(failure?.position == "s.yaml:7:10")
    #expect(
        failure?.detail
            == "`com.example.calculator` had no release for iOS at 2014-05-01T00:00:00Z; wait for the first release, or release a build earlier"
    )
}

@Test func `scenarios can use every operation of customers and of the store`() async throws {
    let (monthly, pro) = ("com.example.calculator.monthly", "com.example.calculator.pro")
    let text = """
        scenario: All of it
        begins: 2014-01-01
        app:
          bundleID: com.example.calculator
          appleID: 828838134
          gracePeriodDays: 16
          releases: [{ platform: iOS, build: "37", version: "1.4", at: 2014-01-10 }]
          prices: [{ from: 2014-01-10, price: 4.99 }]
          products:
            \(monthly): { type: autoRenewable, price: 1.99, group: plans, level: 2, period: P1M, familyShareable: true }
            \(pro):
              type: autoRenewable
              price: 4.99
              group: plans
              level: 1
              period: P1M
              familyShareable: true
              offers: [{ id: friends, type: offerCode, discount: payUpFront, period: P3M, price: 9.99 }]
        customers: { Ada: { family: Lovelace }, Byron: { family: Lovelace }, Olga: {}, Paul: {}, Vera: {} }
        timeline:
          - at: 2014-05-01
            Ada: { acquires: iOS, release: "37", price: 3.99 }
            Byron: acquires
            Olga: { acquires: iOS, preordered: 2014-01-01 }
            Paul: { acquires: iOS, way: promoCode }
            Vera: { acquires: iOS, way: volumePurchase, licenseEnds: 2015-01-01 }
          - after: 1d
            Ada:
              - buys: \(monthly)
              - shares: \(monthly)
              - upgrades: \(pro)
              - downgrades: \(monthly)
              - keepsPlan: \(pro)
              - cancels: \(pro)
              - resumes: \(pro)
              - unshares: \(pro)
            Olga: [{ buys: \(pro), offer: friends }, cannotPay]
            Paul:
              - buys: \(pro)
              - asksForRefund: \(pro)
              - isDeniedRefund: \(pro)
              - { isRefunded: \(pro), percent: 40 }
              - losesRefund: \(pro)
            Vera: { buys: \(pro) }
          - after: 1d
            store: { raisesPrice: \(pro), price: 6.99 }
          - after: 1d
            Olga: { consents: \(pro) }
            Vera: { consents: \(pro) }
            Ada: returnsApp
            Byron: leavesFamily
          - after: 115d
            store: [{ releases: iOS, build: "120", version: "2.0" }, { setsPrice: free }]
            Ada: acquires
            Olga: [{ paysAgain: \(pro) }, { moves: DEU }]
            Vera: [updates, losesConsent]
          - after: 40d
            store: [{ withdraws: \(pro) }, { network: down }]
          - after: 40d
            store: [{ offersAgain: \(pro) }, { network: up }]
        """
    let scenario = try ScenarioReader.read(Array(text.utf8), named: "s.yaml")
    let store = LocalAppStore(scenario.header.state, signer: Shop.signer) { _, _, _ in .success }
    try await scenario.perform(in: store)
    let reported = Set(await store.state.notificationNames())
    for name in [
        "SUBSCRIBED/INITIAL_BUY", "DID_RENEW", "DID_RENEW/BILLING_RECOVERY", "DID_FAIL_TO_RENEW/GRACE_PERIOD",
        "GRACE_PERIOD_EXPIRED", "DID_CHANGE_RENEWAL_PREF/UPGRADE", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE",
        "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", "CONSUMPTION_REQUEST", "REFUND_DECLINED", "REFUND",
        "REFUND_REVERSED", "REVOKE", "PRICE_INCREASE/PENDING", "PRICE_INCREASE/ACCEPTED", "RESCIND_CONSENT",
        "EXPIRED/PRICE_INCREASE", "EXPIRED/PRODUCT_NOT_FOR_SALE",
    ] { #expect(reported.contains(name), "\(name)") }
}

@Test func `a scenario step that is dated before the scenario's beginning or before the previous step is a mistake`()
    throws
{
    func read(_ steps: String) throws -> Scenario {
        try ScenarioReader.read(
            Array(
                """
                scenario: Backwards
                begins: 2014-03-01
                app:
                  bundleID: com.example.calculator
                  appleID: 828838134
                  releases: [{ platform: iOS, build: "37", version: "1.4", at: 2014-01-10 }]
                customers: { Ada: {} }
                timeline:
                \(steps)
                """.utf8), named: "s.yaml")
    }
    #expect(try read("  - { at: 2014-03-01, Ada: acquires }").timeline.count == 1)
    let waiting = "  - { after: 10d, Ada: acquires }\n"
    #expect(try read(waiting + "  - { at: 2014-03-11, Ada: updates }").timeline.count == 2)
    for (steps, place) in [
        ("  - { at: 2014-02-28, Ada: acquires }", "s.yaml:9:11"),
        ("  - { at: 2014-05-01, Ada: acquires }\n  - { at: 2014-04-30, Ada: updates }", "s.yaml:10:11"),
        (waiting + "  - { at: 2014-03-10T23:59:59Z, Ada: updates }", "s.yaml:10:11"),
    ] {
        #expect { try read(steps) } throws: {
            "\($0)".contains("\(place): `at` is before the time of the step above, or before `begins`")
        }
    }
}
