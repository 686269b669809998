import Foundation
import TenureCore
import TenurePolicyLint
import Testing

@testable import TenureRehearsal

/// What the page says about the causes of losses, and about the findings of the linter.
struct PageCauseTests {
    private static let yearly = "com.example.calculator.yearly"
    private static let lifetime = "com.example.calculator.everything"
    private static let platforms: [Platform] = [.iOS, .macOS, .tvOS, .visionOS, .watchOS]

    private static func policy(
        products: [String], honors: [String] = ["paid"], cloud: [String] = ["paid"],
        others: [String] = [], inDoubt: Policy.InDoubt = .undetermined
    ) throws -> Policy {
        try Policy(
            app: .init(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "giveaway", model: .free,
                    begins: [.iOS: .at(version: nil, date: Population.date("2015-06-10"))],
                    changeover: .window(from: -86_400, until: 2 * 86_400)),
                Era(
                    name: "paidAgain", model: .paid,
                    begins: [.iOS: .at(version: nil, date: Population.date("2015-06-20"))], changeover: .noWindow),
            ],
            buildNumbers: .increasing,
            entitlements: [
                Entitlement(
                    name: "everything", products: products.map { .init(id: $0) }, honors: honors.map { Honor(era: $0) })
            ] + (["cloud"] + others).map { Entitlement(name: $0, honors: cloud.map { Honor(era: $0) }) },
            inDoubt: inDoubt)
    }

    /// A number of equal customers.
    private struct Customers {
        var platform = Platform.iOS
        var bought: String
        var product: String?
        var count: Int
    }

    private func report(of new: Policy, against old: Policy, _ customers: [Customers]) -> RehearsalReport {
        let comparison = Comparison(of: new, against: old, at: Population.now)
        var tally = Tally(for: comparison)
        var number = 0
        for group in customers {
            for _ in 0..<group.count {
                number += 1
                let proof = Population.appTransaction("\(number)", on: group.platform, bought: group.bought)
                let purchase = group.product.map {
                    Purchase(
                        transactionID: "\(number)", productID: $0, type: .nonConsumable,
                        purchaseDate: Population.date(group.bought), signedDate: Population.now)
                }
                comparison.count(
                    Evidence(
                        environment: .production, app: [proof], transactions: purchase.map { [$0] } ?? [],
                        purchasesAreComplete: true),
                    id: "appTransactionID \(number)", exportedID: nil, in: &tally)
            }
        }
        return RehearsalReport(
            policyName: "new.yaml", oldPolicyName: "old.yaml", comparison: comparison,
            input: .database(name: "database", skipped: 0), tally: tally,
            findings: Linter.findings(in: new, against: old, at: Population.now))
    }

    private func page(_ report: RehearsalReport) -> String {
        String(decoding: HTMLReport.bytes(of: report), as: UTF8.self)
    }

    /// The losses of all entitlements in the JSON report.
    private static func losses(in report: RehearsalReport) throws -> [[String: Any]] {
        let object = try JSONSerialization.jsonObject(with: Data(report.json())) as? [String: Any]
        let entitlements = try #require(object?["entitlements"] as? [[String: Any]])
        return entitlements.flatMap { $0["losses"] as? [[String: Any]] ?? [] }
    }

    /// The text outside of everything that is collapsed.
    private func paper(_ page: String) -> String {
        page.components(separatedBy: "<details>").map { part in
            part.components(separatedBy: "</details>").last ?? ""
        }.joined()
    }

    @Test func `a rehearsal page names a removed product as the cause of a loss, not an unrelated era`() throws {
        let report = report(
            of: try Self.policy(products: [Self.lifetime]),
            against: try Self.policy(products: [Self.lifetime, Self.yearly]),
            [
                Customers(bought: "2015-06-15", product: Self.yearly, count: 4),
                Customers(bought: "2015-06-15", product: Self.lifetime, count: 2),
                Customers(bought: "2014-06-15", product: Self.yearly, count: 3),
            ])
        #expect(report.tally.losing == 4)
        let cause = "denied, <code>\(Self.yearly)</code> no longer grants it, and got the app in an era that"
        #expect(page(report).contains("Before: granted, has a purchase that grants it. Now: \(cause)"))
        #expect(
            TextReport(report).lines.contains(
                .faint("               4  of them because `\(Self.yearly)` no longer grants it")))
        let removed = try Self.losses(in: report).compactMap { $0["removedProducts"] as? [String] }
        #expect(removed == [[Self.yearly]])
        // Everyone who bought it counts, even a customer who keeps the right for another reason.
        #expect(report.tally.productsWithoutEntitlement == [Self.yearly: 7])
    }

    @Test func `a rehearsal page names no product for a loss with another cause`() throws {
        let products = [Self.lifetime, Self.yearly]
        let report = report(
            of: try Self.policy(products: [Self.lifetime], honors: []), against: try Self.policy(products: products),
            [
                Customers(bought: "2014-06-15", count: 4),
                Customers(bought: "2014-06-15", product: Self.lifetime, count: 1),
            ])
        #expect(report.tally.losing == 4)
        #expect(!page(report).contains("no longer grants it"))
        #expect(!String(decoding: report.json(), as: UTF8.self).contains("removedProducts"))
    }

    @Test func `a rehearsal page counts removed products if there are many`() {
        #expect(Set(["a"]).removal == "`a` no longer grants it")
        #expect(Set(["a", "b"]).removal == "`a` and `b` no longer grant it")
        #expect(Set(["a", "b", "c", "d", "e"]).removal == "`a`, `b`, `c` and 2 other products no longer grant it")
    }

    @Test func `a printed rehearsal page shows every cause of losses`() throws {
        let eras = ["paid", "paidAgain"]
        let products = [Self.lifetime]
        let others = (1...6).map { "other\($0)" }
        let customers = Self.platforms.flatMap { platform in
            [
                Customers(platform: platform, bought: "2014-06-15", count: 2),
                Customers(platform: platform, bought: "2015-06-15", product: Self.lifetime, count: 1),
            ]
        }
        let report = report(
            of: try Self.policy(products: [], honors: [], cloud: [], others: others),
            against: try Self.policy(products: products, honors: eras, cloud: eras, others: others), customers)
        let causes = report.entitlements.reduce(0) { $0 + $1.tally.losses.count }
        let page = page(report)
        #expect(causes > 10)
        #expect(page.components(separatedBy: "<div class=\"amount\">").count - 1 == causes)
        #expect(paper(page).components(separatedBy: "<div class=\"amount\">").count - 1 == causes)
        #expect(!paper(page).contains("<li>"))
    }

    @Test func `each reason on a rehearsal page says how many of its customers lose a right`() throws {
        let products = [Self.lifetime]
        let report = report(
            of: try Self.policy(products: products),
            against: try Self.policy(products: products, inDoubt: .favorCustomer),
            // Within the changeover window.
            [Customers(bought: "2015-06-10", count: 3), Customers(bought: "2014-06-15", count: 2)])
        let counts = report.tally.byEntitlement[0].counts
        #expect(counts.loses == 3 && counts.undetermined == 3)
        let page = page(report)
        #expect(page.contains("can’t be determined <b>0</b>"))
        let reason = "applies, so <code>inDoubt</code> in the policy decides"
        #expect(page.contains(reason + " <span class=\"soft\">(3 of them lose it)</span></td>"))
        #expect(page.contains("got the app in an honored era</td>"))
        let gaining = self.report(
            of: try Self.policy(products: products), against: try Self.policy(products: products, honors: []),
            [Customers(bought: "2014-06-15", count: 1)])
        #expect(self.page(gaining).contains("honored era <span class=\"soft\">(1 of them gains it)</span></td>"))
    }

    @Test func `a rehearsal page shows a policy's key in a reason as code`() throws {
        let old = try Self.policy(products: [])
        let new = try Self.policy(products: [], inDoubt: .favorCustomer)
        let page = page(report(of: new, against: old, [Customers(bought: "2015-06-11", count: 1)]))
        #expect(page.contains("so <code>inDoubt</code> in the policy decides <span"), "the row of the reason")
        #expect(page.contains("so <code>inDoubt</code> in the policy decides.</li>"), "the list of changes")
        #expect(!page.contains("`"))
    }

    @Test func `each chart of a rehearsal page has the names of the eras under it`() throws {
        let policy = try Self.policy(products: [Self.lifetime])
        let page = page(report(of: policy, against: policy, [Customers(bought: "2014-06-15", count: 2)]))
        let panels = page.components(separatedBy: "<section class=\"panel\">").dropFirst()
        #expect(panels.count == 2)
        for panel in panels {
            #expect(
                panel.contains(
                    "Eras: paid until June 10, 2015; giveaway until June 20, 2015; paidAgain since then."))
        }
    }

    @Test func `the eras under a chart have no color, because gray means customers without the right`() {
        #expect(PageStyle.css.contains(".eraSpan { fill: var(--paper);"))
        #expect(!PageStyle.css.contains(".eraSpan.odd"))
    }

    @Test func `findings on a rehearsal page have written-out dates, without the tolerance of two seconds`() throws {
        let eras = ["paid", "giveaway"]
        let products = [Self.lifetime]
        let report = report(
            of: try Self.policy(products: products), against: try Self.policy(products: products, honors: eras),
            [Customers(bought: "2015-06-15", count: 1)])
        #expect(report.findings.contains { $0.code == "right-lost" && $0.message.contains(#/T\d\d:\d\d:\d\dZ/#) })
        let page = page(report)
        #expect(page.contains("June 20, 2015"))
        #expect(!page.contains(#/\d\d:\d\d:\d\d/#))
    }

    @Test(arguments: [
        (
            "from 2015-01-01T23:59:58Z until 2015-01-31T09:59:58Z, or",
            "from January 2, 2015 until January 31, 2015, 10:00 UTC, or"
        ),
        ("since 2015-05-01T18:00:02Z or before 2015-02-03", "since May 1, 2015, 18:00 UTC or before February 3, 2015"),
        ("from 2015-05-01T17:59:58Z until 2015-05-01T18:00:02Z", "around May 1, 2015, 18:00 UTC"),
        ("`at: 2015-05-01T18:00:00Z` since 2015-05-01", "`at: 2015-05-01T18:00:00Z` since May 1, 2015"),
        ("an odd ` and 2015-05-01", "an odd ` and 2015-05-01"),
        ("at 2015-05-01T18:00:30Z", "at 2015-05-01T18:00:30Z"),
        ("build 12015-05-011 or 2015-13-45", "build 12015-05-011 or 2015-13-45"),
    ])
    func `instants in the sentences of a rehearsal page become dates, but instants in code don't`(
        text: String, written: String
    ) {
        #expect(text.withWrittenDates == written)
    }
}
