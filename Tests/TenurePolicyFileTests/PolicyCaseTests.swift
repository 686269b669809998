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
            Issue.record("\(result.position): \(result.name)\n  \(result.differences.joined(separator: "\n  "))")
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
        #expect(results[0].position == "cases.yaml:3:5")
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
                cases.yaml:8:5: `now` is missing in this case and at the top of the file; write `now: 2015-07-01`
                cases.yaml:13:16: no era gives `everything` under the policy, artifacts and date of `given`, so nothing was promised; correct `given`
                cases.yaml:14:5: `expect` is empty; write an outcome for an entitlement, such as `everything: granted`
                """)
    }

    @Test func `a policy case without a required key is a mistake, because it would check nothing`() throws {
        let error = #expect(throws: PolicyFileError.self) {
            _ = try run(
                """
                now: 2015-07-01
                cases:
                  - name: x
                    app: {}
                  - app: {}
                    expect: { everything: granted }
                  - name: z
                    app: {}
                    transactions: [{ isUpgraded: false }]
                    promises: [{ until: 2016-01-01 }]
                    expect: { everything: { reasons: [eraHonored] } }
                """)
        }
        #expect(
            error?.description == """
                cases.yaml:3:5: `expect` is missing; write `expect: { everything: granted }`
                cases.yaml:5:5: `name` is missing; write `name: bought build 37 in 2014`
                cases.yaml:9:20: `productID` is missing; write `productID: com.example.calculator.everything`
                cases.yaml:10:16: `entitlement` is missing; write `entitlement: everything`
                cases.yaml:11:15: `outcome` is missing; write `outcome: granted`
                """)
        let empty = #expect(throws: PolicyFileError.self) { _ = try run("now: 2015-07-01") }
        #expect(
            empty?.description
                == "cases.yaml:1:1: this looks like a file of another kind, not like cases; check the path, or begin the file with `cases:`"
        )
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
                cases.yaml:7:15: this entry must be a grant or a revocation; write either `grant: everything` or `revocation: everything`
                cases.yaml:7:62: this entry must be a grant or a revocation; write either `grant: everything` or `revocation: everything`
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

    @Test func `a policy case has each field of its artifacts, and a default for each missing field`() throws {
        let text = """
            now: 2015-07-01
            policy:
              app: { bundleID: com.example.calculator }
              eras: [{ name: paid, model: paid }]
              entitlements: { everything: { honors: [paid] } }
            cases:
              - name: everything at once
                app:
                  - kind: receipt
                    downloadID: 5
                    originalAppVersion: 1.10
                    originalPurchaseDate: 2014-05-01
                    preorderDate: 2014-04-01
                    revocationDate: 2014-06-01
                    expirationDate: 2016-01-01
                    signedDate: none
                  - { appTransactionID: 7, downloadID: 8, originalPlatform: macOS }
                  - { kind: serverAppTransaction, originalPlatform: unknown, signedDate: 2015-06-01 }
                  - { environment: Sandbox, originalAppVersion: "1.0" }
                transactions:
                  - { productID: a }
                  - productID: b
                    transactionID: x
                    originalTransactionID: y
                    purchaseDate: none
                    expiresDate: 2015-06-01
                    revocationDate: 2015-05-01
                    isUpgraded: true
                    familyShared: true
                    signedDate: 2015-06-15
                  - { productID: c, type: none }
                  - { productID: d, expiresDate: 2015-06-01 }
                  - { productID: e, type: unknown }
                renewals:
                  - originalTransactionID: y
                    productID: b
                    gracePeriodExpiresDate: 2015-07-10
                    isInBillingRetryPeriod: true
                  - { originalTransactionID: y, signedDate: none }
                purchasesComplete: false
                support:
                  - { grant: everything, until: 2016-01-01 }
                  - { revocation: everything, date: 2015-01-01 }
                expect: { everything: granted }
            """
        func date(_ day: String) -> Date? { CivilDay(day)?.midnight }
        let now = try #require(date("2015-07-01"))
        let revoked = try #require(date("2015-01-01"))
        let cases = try PolicyCases.read(Array(text.utf8), named: "cases.yaml", policy: nil).cases
        let artifacts = try #require(cases.first).artifacts
        #expect(artifacts.environment == .production && !artifacts.purchasesAreComplete)
        #expect(
            artifacts.app == [
                AppProof(
                    kind: .receipt, signedDate: nil, id: .download("5"), originalAppVersion: "1.10",
                    originalPurchaseDate: date("2014-05-01"), preorderDate: date("2014-04-01"),
                    revocationDate: date("2014-06-01"), expirationDate: date("2016-01-01")),
                AppProof(kind: .appTransaction, signedDate: now, id: .appTransaction("7"), originalPlatform: .macOS),
                AppProof(kind: .serverAppTransaction, signedDate: date("2015-06-01")),
            ])
        #expect(
            artifacts.transactions == [
                Purchase(
                    transactionID: "1", productID: "a", type: .nonConsumable, purchaseDate: now, signedDate: now),
                Purchase(
                    transactionID: "x", originalTransactionID: "y", productID: "b", type: .autoRenewable,
                    purchaseDate: nil, expiresDate: date("2015-06-01"), revocationDate: date("2015-05-01"),
                    isUpgraded: true, isFamilyShared: true, signedDate: date("2015-06-15")),
                Purchase(transactionID: "3", productID: "c", type: nil, purchaseDate: now, signedDate: now),
                Purchase(
                    transactionID: "4", productID: "d", type: .autoRenewable, purchaseDate: date("2015-06-01"),
                    expiresDate: date("2015-06-01"), signedDate: now),
                Purchase(
                    transactionID: "5", productID: "e", type: .unknown("Something New"), purchaseDate: now,
                    signedDate: now),
            ])
        #expect(
            artifacts.renewals == [
                Renewal(
                    originalTransactionID: "y", productID: "b", gracePeriodExpiresDate: date("2015-07-10"),
                    isInBillingRetryPeriod: true, signedDate: now),
                Renewal(
                    originalTransactionID: "y", productID: nil, gracePeriodExpiresDate: nil,
                    isInBillingRetryPeriod: false, signedDate: nil),
            ])
        #expect(
            artifacts.support == [
                SupportGrant(.grant, of: "everything", date: now, until: date("2016-01-01")),
                SupportGrant(.revocation, of: "everything", date: revoked),
            ])
    }

    @Test func `the artifacts of a policy case are also decided in every rotation, forward and backward`() {
        let transactions = ["1", "2", "3"].map {
            Purchase(transactionID: $0, productID: "a", type: .nonConsumable, purchaseDate: nil, signedDate: nil)
        }
        let renewals = ["a", "b"].map {
            Renewal(
                originalTransactionID: $0, productID: nil, gracePeriodExpiresDate: nil, isInBillingRetryPeriod: false,
                signedDate: nil)
        }
        let support = ["x", "y"].map { SupportGrant(.grant, of: $0, date: .distantPast) }
        let artifacts = PolicyCase.Artifacts(
            environment: .sandbox, transactions: transactions, renewals: renewals, purchasesAreComplete: false,
            support: support)
        let orders = artifacts.otherOrders
        #expect(orders.map { $0.transactions.map(\.transactionID).joined() } == ["231", "312", "321", "132", "213"])
        #expect(orders.map { $0.renewals.map(\.originalTransactionID).joined() } == ["ba", "ab", "ba", "ab", "ba"])
        #expect(orders.map { $0.support.map(\.entitlement).joined() } == ["yx", "xy", "yx", "xy", "yx"])
        #expect(orders.allSatisfy { $0.environment == .sandbox && !$0.purchasesAreComplete && $0.app.isEmpty })
        let single = PolicyCase.Artifacts(transactions: [transactions[0]], support: [support[0]])
        #expect(single.otherOrders.isEmpty)
    }
}
