import Foundation
import TenureAppStore
import TenureCore
import TenureMint
import TenurePolicyLint
import Testing

@testable import TenureRehearsal

/// The first sentence of the report, for readers who read nothing else.
struct HeadlineTests {
    /// Sold until June 2015, and free since. Nothing honors the paid era.
    private static func policy(acknowledging findings: [LintFinding] = []) throws -> Policy {
        try Policy(
            app: .init(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "free", model: .free,
                    begins: [.iOS: .at(version: AppVersion("120"), date: Population.date("2015-06-10"))],
                    changeover: .window(from: -86_400, until: 2 * 86_400)),
            ],
            buildNumbers: .increasing,
            entitlements: [Entitlement(name: "everything", products: [.init(id: "com.example.calculator.everything")])],
            acknowledgments: findings.map { Acknowledgment(code: $0.code, at: $0.place, reason: "intended") })
    }

    private func report(
        of policy: Policy, acquired date: String = "2014-05-01", bought products: [String] = [],
        input: RehearsalReport.Input? = nil,
        conditions: [String] = []
    ) throws -> RehearsalReport {
        let comparison = Comparison(of: policy, at: Population.now)
        var tally = Tally(for: comparison)
        let proof = Population.appTransaction(bought: date)
        let purchases = products.map { product in
            Purchase(
                transactionID: product, productID: product, type: .nonConsumable, purchaseDate: Population.now,
                signedDate: Population.now)
        }
        comparison.count(
            Evidence(environment: .production, app: [proof], transactions: purchases, purchasesAreComplete: true),
            id: "1", in: &tally)
        return RehearsalReport(
            policyName: "new.yaml", oldPolicyName: nil, comparison: comparison,
            input: input ?? .database(name: "database", skipped: 0), tally: tally,
            conditions: try conditions.map { try FailCondition($0, of: comparison) },
            findings: Linter.findings(in: policy, at: Population.now))
    }

    @Test func `a rehearsal's headline says not to ship if the policy check reports unacknowledged errors`() throws {
        let headline = try report(of: try Self.policy()).headline
        #expect(headline.level == .stop)
        #expect(headline.sentence == "Do not ship: `tenure policy check` reports 1 error.")
        let errors = Linter.findings(in: try Self.policy(), at: Population.now).unacknowledgedErrors
        #expect(errors.count == 1)
        let acknowledged = try report(of: try Self.policy(acknowledging: errors)).headline
        #expect(acknowledged.level == .go)
        #expect(acknowledged.sentence == "Of 1 customer, 0.00% have `everything`.")
    }

    @Test func `a rehearsal's headline asks for a check if customers bought a product that no entitlement lists`()
        throws
    {
        let errors = Linter.findings(in: try Self.policy(), at: Population.now).unacknowledgedErrors
        let policy = try Self.policy(acknowledging: errors)
        #expect(try report(of: policy, bought: ["com.example.calculator.everything"]).headline.level == .go)
        let headline = try report(of: policy, bought: ["com.example.calculator.old"]).headline
        #expect(headline.level == .check)
        #expect(
            headline.sentence
                == "Of 1 customer, 0.00% have `everything`; 1 customer has bought `com.example.calculator.old`, which no entitlement lists."
        )
        let several = try report(of: policy, bought: ["com.example.calculator.old", "com.example.calculator.older"])
        #expect(several.headline.sentence.hasSuffix("; customers have bought 2 products that no entitlement lists."))
    }

    @Test func `a rehearsal's headline asks for a check if a version contradicts the purchase date`() throws {
        let errors = Linter.findings(in: try Self.policy(), at: Population.now).unacknowledgedErrors
        let headline = try report(of: try Self.policy(acknowledging: errors), acquired: "2015-08-01").headline
        #expect(headline.level == .check)
        #expect(
            headline.sentence
                == "Of 1 customer, 0.00% have `everything`; 1 customer (100.0%) has contradicting proofs.")
    }

    @Test func `a rehearsal's headline asks for a check if no customer has an entitlement that honors an era`() throws {
        func headline(build: String, acquired date: String) throws -> Headline {
            let policy = try Policy(
                app: .init(bundleID: "com.example.calculator", appleID: 828_838_134),
                eras: [
                    Era(name: "paid", model: .paid),
                    Era(
                        name: "free", model: .free,
                        begins: [.iOS: .at(version: AppVersion(build), date: Population.date("2015-06-10"))],
                        changeover: .window(from: -86_400, until: 2 * 86_400)),
                ],
                buildNumbers: .increasing,
                entitlements: [
                    Entitlement(
                        name: "everything", products: [.init(id: "com.example.calculator.everything")],
                        honors: [Honor(era: "paid")])
                ])
            return try report(of: policy, acquired: date).headline
        }
        let owner = try headline(build: "120", acquired: "2014-05-01")
        #expect(owner.level == .go)
        #expect(owner.sentence == "Of 1 customer, 100.0% have `everything`.")
        let none = try headline(build: "20", acquired: "2015-08-01")
        #expect(none.level == .check)
        #expect(
            none.sentence
                == "Of 1 customer, 0.00% have `everything`; no customer has `everything`, although it honors an era.")
        // The build looks like a major version.
        let warned = try headline(build: "3", acquired: "2014-05-01")
        #expect(warned.level == .check)
        #expect(warned.sentence.hasSuffix("; `tenure policy check` reports 1 warning."), "\(warned.sentence)")
    }

    @Test func `a rehearsal's percentage of rejected lines is based on all lines, not on customers`() async throws {
        let minter = JWSMinter(authority: try Corpora.authority.get(), signedAt: Population.now)
        let line = Array(try minter.mint(.appTransaction, setting: [:]))
        let outcome = try await Corpora.rehearse(Array(repeating: line, count: 9) + [Array("no JWS".utf8)]).outcome
        #expect(outcome.tally.customers == 1)
        let report = try report(
            of: try Self.policy(),
            input: .evidence(name: "lines", counts: outcome.counts, badLines: "rejected", anonymousIDs: []),
            conditions: ["rejected>10%", "rejected>=10%"])
        #expect(report.measurements.map(\.value) == [10, 10])
        let end = "; 1 of 10 lines (10.0%) was rejected, whole or in part."
        #expect(Headline(of: report).sentence.hasSuffix(end), "\(Headline(of: report).sentence)")
        #expect(report.measurements.map(\.fails) == [false, true])
    }
}
