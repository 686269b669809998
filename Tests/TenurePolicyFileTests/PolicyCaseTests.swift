import Foundation
import RepositoryFiles
import TenureCore
import Testing

@testable import TenurePolicyFile

@Suite struct PolicyCaseTests {
    @Test func `every policy case of the repository passes`() throws {
        let cases = try PolicyCases.read(
            try RepositoryFile.bytes("Tests/PolicyCases/cases.yaml"), named: "cases.yaml",
            policy: (try RepositoryFile.bytes("Tests/PolicyCases/policy.yaml"), "policy.yaml"))
        let results = cases.run()
        #expect(results.count >= 100)
        for result in results where !result.passed {
            Issue.record("\(result.place): \(result.name)\n  \(result.differences.joined(separator: "\n  "))")
        }
    }

    private func run(_ cases: String) throws -> [CaseResult] {
        try PolicyCases.read(
            Array(cases.utf8), named: "cases.yaml",
            policy: (try RepositoryFile.bytes("Tests/PolicyCases/policy.yaml"), "policy.yaml")
        ).run()
    }

    @Test func `a failed policy case shows what was expected and what was decided`() throws {
        let results = try run(
            """
            now: 2015-07-01
            cases:
              - name: wrong in every way
                app: { originalAppVersion: "37", originalPurchaseDate: 2014-11-01 }
                expect:
                  everything: { outcome: granted, until: 2016-01-01, reasons: [changeover], notReasons: [date] }
                  cloud: { outcome: denied, nextSteps: [support], sentence: [“cloud”, refund], notSentence: ["2016"] }
                  clouds: granted
            """)
        #expect(results.map(\.passed) == [false])
        #expect(results[0].place == "cases.yaml:3:5")
        #expect(
            results[0].differences == [
                "everything: expected granted until 2016-01-01T00:00:00Z, got permanently (eraHonored, version, date)",
                "everything: expected the reason `changeover`, got (eraHonored, version, date)",
                "everything: expected no reason `date`, got (eraHonored, version, date)",
                "cloud: expected denied, got granted (eraHonored, version, date): \(results[0].decisions[1].sentence)",
                "cloud: expected the next steps support, got no next steps",
                "cloud: expected a sentence with “refund”, got “\(results[0].decisions[1].sentence)”",
                "cloud: expected a sentence without “2016”, got “\(results[0].decisions[1].sentence)”",
                "there is no entitlement `clouds`; did you mean `cloud`?",
            ])
    }

    @Test func `mistakes in policy cases, and in their policy overrides, are reported like mistakes in a policy`()
        throws
    {
        let error = #expect(throws: PolicyFileError.self) {
            _ = try run(
                """
                cases:
                  - name: x
                    policy: { buildNumbers: rising }
                    now: 2015-07-01
                    app: { originalVersion: "37", originalPurchaseDate: 2014-31-01, originalPlatform: MacOS }
                    transactions: [{ product: all }]
                    expect: { everything: grant }
                  - name: y
                    expect: { everything: granted }
                  - name: z
                    now: 2015-07-01
                    app: { originalAppVersion: "130", originalPurchaseDate: 2015-06-20 }
                    promises: [{ entitlement: everything, given: {} }]
                    expect: {}
                """)
        }
        #expect(
            error?.description == """
                cases.yaml:3:29: `rising` is unknown here; write `increasing` or `restarted`
                cases.yaml:5:12: `originalVersion` is unknown here; did you mean `originalAppVersion`?
                cases.yaml:5:57: `2014-31-01` isn't a date; write one such as `2015-06-10` or `2015-06-10T18:00:00Z`
                cases.yaml:5:87: `MacOS` isn't a platform; did you mean `macOS`?
                cases.yaml:6:22: `product` is unknown here; did you mean `productID`?
                cases.yaml:7:27: `grant` is unknown here; did you mean `granted`?
                cases.yaml:8:5: `now` is missing here and at the top; write `now: 2015-07-01`
                cases.yaml:13:16: no era gives `everything` here, so nothing was promised; correct `given`
                cases.yaml:14:5: `expect` is empty; write an outcome for an entitlement, such as `everything: granted`
                """)
    }

    @Test func `an ambiguous artifact in a policy case is a mistake`() throws {
        let error = #expect(throws: PolicyFileError.self) {
            _ = try run(
                """
                now: 2015-07-01
                cases:
                  - name: x
                    app: { originalAppVersion: [37] }
                    transactions: [{ productID: a }, { productID: b, isUpgraded: 1 }]
                    renewals: [{ productID: a }]
                    support: [{ grant: everything, revocation: everything }, { until: 2016-01-01 }]
                    purchasesComplete: "true"
                    expect: { everything: granted }
                """)
        }
        #expect(
            error?.description == """
                cases.yaml:4:12: a list isn't possible here; write a string, or `none`
                cases.yaml:5:66: `1` isn't a Boolean; write `true` or `false` without quotation marks
                cases.yaml:6:16: the renewal info doesn't name its subscription; write `originalTransactionID: "1"`
                cases.yaml:7:15: write one of `grant: everything` and `revocation: everything`
                cases.yaml:7:62: write one of `grant: everything` and `revocation: everything`
                cases.yaml:8:24: `true` isn't a Boolean; write `true` or `false` without quotation marks
                """)
    }

    @Test func `a file of policy cases without a case or without a policy is a mistake`() throws {
        let empty = #expect(throws: PolicyFileError.self) { _ = try run("cases: []") }
        #expect(empty?.description == "cases.yaml:1:1: there is no case; write at least one")
        let missing = #expect(throws: PolicyFileError.self) { _ = try run("now: 2015-07-01\ncases:\n") }
        #expect(missing?.description == "cases.yaml:2:1: `cases` has no value; write one, or remove the line")
        let text = "now: 2015-07-01\ncases: [{ name: x, app: {}, expect: { everything: granted } }]"
        let error = #expect(throws: PolicyFileError.self) {
            _ = try PolicyCases.read(Array(text.utf8), named: "cases.yaml", policy: nil)
        }
        #expect(
            error?.description
                == "cases.yaml:2:9: there is no policy to test; write `policy` at the top, or name a policy file")
    }

    @Test func `a file of policy cases may contain its own policy`() throws {
        let cases = try PolicyCases.read(
            Array(
                """
                now: 2015-07-01
                policy:
                  app: { bundleID: com.example.calculator }
                  eras: [{ name: paid, model: paid }]
                  entitlements: { everything: { honors: [paid] } }
                cases: [{ name: anybody, app: {}, expect: { everything: granted } }]
                """.utf8), named: "cases.yaml", policy: nil)
        #expect(cases.run().map(\.differences) == [[]])
    }

    @Test func `a policy case may name one reason as text, which is compared like a list`() throws {
        func text(_ expectation: String) -> String {
            """
            now: 2015-07-01
            cases:
              - name: an owner
                app: { originalAppVersion: "37", originalPurchaseDate: 2014-11-01 }
                expect: { everything: { outcome: granted, \(expectation) } }
            """
        }
        #expect(try run(text("reasons: eraHonored, notReasons: changeover")).map(\.differences) == [[]])
        let decided = "(eraHonored, version, date)"
        #expect(
            try run(text("reasons: changeover, notReasons: date")).map(\.differences) == [
                [
                    "everything: expected the reason `changeover`, got \(decided)",
                    "everything: expected no reason `date`, got \(decided)",
                ]
            ])
        let error = #expect(throws: PolicyFileError.self) { _ = try run(text("notReasons: eraHonord")) }
        #expect(error?.description.contains("did you mean `eraHonored`?") == true)
    }
}
