import CalculatorSeller
import Foundation
import TenureAppStore
import TenureCore
import TenureMint
import TenurePolicyFile
import Testing

@testable import LocalAppStore

/// A service that fails whenever it is asked.
private struct BrokenService: EntitlementService {
    func withLocalStore(
        _ header: JournalHeader, signer: AppStoreSigner,
        _ body: @escaping @Sendable (LocalAppStore) async throws -> [ScenarioRun.Outcome]
    ) async throws -> [ScenarioRun.Outcome] {
        try await body(LocalAppStore(header.state, signer: signer) { _, _, _ in .success })
    }

    func openApp(_: DeviceArtifacts, at _: Date) throws -> [String: Decision.Outcome] { throw NothingThere() }
    func outcomes(of _: KnownCustomer, at _: Date) throws -> [String: Decision.Outcome]? { throw NothingThere() }
    func catchUp(from _: LocalAppStore) {}
}

/// Defaults, limits and messages of scenario files.
@Suite struct `reading scenarios` {
    private func scenario(_ lines: String, timeline: String = "[]") throws -> Scenario {
        let text = """
            scenario: A story
            begins: 2014-03-01
            \(lines)
            app: { bundleID: com.example.calculator, appleID: 1, releases: [] }
            customers: { Ada: {}, Eve: {} }
            timeline: \(timeline)
            """
        return try ScenarioReader.read(Array(text.utf8), named: "s.yaml")
    }

    /// The messages of all mistakes, without their positions.
    private func mistakes(_ lines: String, timeline: String = "[]") -> [String] {
        let error = #expect(throws: PolicyFileError.self) { try scenario(lines, timeline: timeline) }
        return error?.mistakes.map { String($0.description.drop { $0 != " " }.dropFirst()) } ?? []
    }

    @Test func `a scenario is of production, and its name is the seed, unless the file says otherwise`() throws {
        let plain = try scenario("story: What happened")
        #expect(plain.header.seed == "A story" && plain.header.environment == .production && plain.policy == nil)
        #expect(plain.header.sandboxPeriods == nil && plain.header.apps.first?.gracePeriodDays == nil)
        let full = try scenario("seed: s\npolicy: ../a.policy.yaml\nenvironment: Sandbox")
        #expect(full.header.seed == "s" && full.header.environment == .sandbox && full.policy == "../a.policy.yaml")
        #expect(
            mistakes("environment: Xcode") == ["`environment` must be `Production` or `Sandbox`; write one of them"])
    }

    @Test func `each length of the sandbox is read, down to its shortest, and a missing one is Apple's`() throws {
        func periods(_ text: String) throws -> SandboxPeriods? {
            try scenario("environment: Sandbox\nsandbox: \(text)").header.sandboxPeriods
        }
        #expect(
            try periods("{ days: 1m, weeks: 4m, month: 6m, waitingDay: 1s, renewals: 0 }")
                == SandboxPeriods(days: 60, weeks: 240, month: 360, waitingDay: 1, renewals: 0))
        #expect(try periods("{ weeks: 1m, renewals: 1000 }") == SandboxPeriods(weeks: 60, renewals: 1000))
        #expect(
            try periods("{ month: 1m }")
                == SandboxPeriods(days: 120, weeks: 180, month: 60, waitingDay: 10, renewals: 12))
        for (length, mistake) in [
            ("weeks: 59s", "`weeks` is too short; write `1m` or a longer time"),
            ("month: 59s", "`month` is too short; write `1m` or a longer time"),
            ("waitingDay: 0s", "`waitingDay` is too short; write `1s` or a longer time"),
            ("renewals: -1", "a subscription renews 0 to 1000 times in the sandbox; write `12`"),
        ] {
            #expect(mistakes("environment: Sandbox\nsandbox: { \(length) }") == [mistake])
        }
    }

    @Test func `an operation that a scenario can't contain is answered with the ones that it can`() {
        let steps = """

              - at: 2014-05-01
                Ada: [aquires, { returnsApp: now }, buys, { buys: x, color: red }]
                store: acquires
                expect: { Eva: { everything: granted } }
            """
        #expect(
            Set(mistakes("seed: s", timeline: steps)) == [
                "`aquires` isn't an operation of a customer; did you mean `acquires`?",
                "`returnsApp` takes no value; write `returnsApp` alone", "`buy` needs `product`",
                "`buy` has no parameter `color`; it has `customer`, `product`, `quantity`, `offer`, `appAccountToken`",
                "`acquires` isn't an operation of the store; write one of `releases`, `setsPrice`, `raisesPrice`, "
                    + "`withdraws`, `offersAgain` or `network`", "there is no customer `Eva`; did you mean `Eve`?",
            ])
    }

    @Test(arguments: ["expect", "known"])
    func `a service that fails ends the scenario at the expectation`(key: String) async throws {
        let steps = "\n  - at: 2014-05-01\n    \(key): { Ada: { everything: denied } }"
        let scenario = try scenario("seed: s", timeline: steps)
        let failure = await #expect(throws: ScenarioFailure.self) {
            try await ScenarioRun(scenario, signer: Shop.signer, service: BrokenService()).play()
        }
        #expect(failure?.position == "s.yaml:8:\(28 + key.count)")
        #expect(failure?.description == "s.yaml:8:\(28 + key.count): NothingThere()")
    }

    @Test func `steps know whether the app is opened, and how long they wait`() throws {
        let steps = """

              - after: 36h
                known: { Eve: { everything: denied } }
                expect: { Ada: { everything: granted, cloud: undetermined } }
            """
        let timeline = try scenario("seed: s", timeline: steps).timeline
        #expect(timeline.map(\.time) == [.after(129_600)])
        let expectations = timeline.flatMap(\.events).map { event -> String in
            guard case .expect(let it) = event else { return "another event" }
            return "\(it.customer) \(it.entitlement) \(it.outcome.rawValue) \(it.opensApp)"
        }
        #expect(
            expectations == [
                "Eve everything denied false", "Ada everything granted true", "Ada cloud undetermined true",
            ])
    }

    /// Reads a scenario with one product and these customers, and returns the messages of all mistakes.
    private func mistakes(product: String = "{ type: nonConsumable, price: 1 }", customers: String) -> [String] {
        let text = """
            scenario: A story
            begins: 2014-03-01
            app:
              bundleID: com.example.calculator
              appleID: 1
              releases: []
              products: { com.example.calculator.key: \(product) }
            customers: \(customers)
            """
        do throws(PolicyFileError) {
            _ = try ScenarioReader.read(Array(text.utf8), named: "s.yaml")
            return []
        } catch {
            return error.mistakes.map { String($0.description.drop { $0 != " " }.dropFirst()) }
        }
    }

    @Test func `a product or customer with an impossible value is a mistake that says what to write`() {
        #expect(mistakes(customers: "{ Ada: { storefront: SWE, shows: nothing } }") == [])
        let keys = ["at", "after", "store", "service", "expect", "known"]
        for key in keys {
            let text = "`\(key)` is a key of steps in the timeline; give the customer another name"
            #expect(mistakes(customers: "{ \(key): {} }") == [text])
        }
        let storefront = mistakes(customers: "{ Ada: { storefront: Germany } }")
        #expect(storefront.count == 1)
        let start = "`Germany` isn't a storefront of the local App Store; write one of `USA`, `FRA`, "
        #expect(storefront.first?.hasPrefix(start) == true)
        #expect(
            mistakes(product: "{ type: nonConsumable, price: ten }", customers: "{ Ada: {} }")
                == ["`ten` isn't an amount; write one such as `4.99`, or `free`"])
        #expect(
            mistakes(product: "{ type: nonConsumable, price: 1, familyShareable: maybe }", customers: "{ Ada: {} }")
                == ["`maybe` is neither `true` nor `false`; write one of them"])
    }

    @Test func `the customers of a scenario have its storefronts and families from the beginning`() async throws {
        let text = """
            scenario: A story
            begins: 2014-03-01
            app: { bundleID: com.example.calculator, appleID: 1, releases: [] }
            customers: { Ada: { storefront: SWE, family: Lovelace }, Byron: {} }
            """
        let scenario = try ScenarioReader.read(Array(text.utf8), named: "s.yaml")
        let store = LocalAppStore(scenario.header.state, signer: Shop.signer) { _, _, _ in .success }
        try await scenario.perform(in: store)
        let accounts = await store.state.accounts
        #expect(accounts.map(\.name) == ["Ada", "Byron"] && accounts.map(\.family) == ["Lovelace", nil])
        #expect(accounts.map(\.storefront.code) == ["SWE", "USA"])
    }
}
