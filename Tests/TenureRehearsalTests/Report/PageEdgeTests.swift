import Foundation
import TenureCore
import Testing

@testable import TenureRehearsal

/// Rare facts that the page must show, and text that it must escape.
struct PageEdgeTests {
    private static let hostile = "free & <b>easy</b>"

    /// A policy with two entitlements that customers lose for two causes, and with a short changeover window.
    private static func policy(build: String, honors: Bool = true, name: String = "free") throws -> Policy {
        try Policy(
            app: .init(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: name, model: .free,
                    begins: [.iOS: .at(version: AppVersion(build), date: Population.date("2015-06-10"))],
                    changeover: .window(from: -86_400, until: 2 * 86_400)),
            ],
            buildNumbers: .increasing,
            entitlements: [
                Entitlement(name: "everything", honors: [Honor(era: "paid")]),
                Entitlement(name: "cloud", honors: honors ? [Honor(era: "paid")] : []),
            ],
            inDoubt: .undetermined)
    }

    private func report(
        of new: Policy, against old: Policy?, _ customers: [(version: String?, bought: String?, count: Int)]
    ) -> RehearsalReport {
        let comparison = Comparison(of: new, against: old, at: Population.now)
        var tally = Tally(for: comparison)
        var number = 0
        for (version, bought, count) in customers {
            for _ in 0..<count {
                number += 1
                let proof = Population.appTransaction("\(number)", version: version, bought: bought)
                comparison.count(
                    Evidence(environment: .production, app: [proof], transactions: [], purchasesAreComplete: true),
                    id: "appTransactionID \(number)", exportedID: nil, in: &tally)
            }
        }
        return RehearsalReport(
            policyName: "new.yaml", oldPolicyName: old == nil ? nil : "old.yaml", comparison: comparison,
            input: .database(name: "database", skipped: 0), tally: tally, showsIDs: false)
    }

    private func page(_ report: RehearsalReport) -> String {
        String(decoding: HTMLReport.bytes(of: report), as: UTF8.self)
    }

    @Test func `an era's name is escaped everywhere on a rehearsal page`() throws {
        let policy = try Self.policy(build: "120", name: Self.hostile)
        let page = page(report(of: policy, against: policy, [("37", "2014-05-01", 3), ("130", "2015-07-01", 2)]))
        #expect(!page.contains("<b>easy"))
        #expect(page.contains("free &amp; &lt;b&gt;easy&lt;/b&gt; begins with 120"))
    }

    @Test func `a quarter's bar in a rehearsal chart has the customers of its three months`() throws {
        let policy = try Self.policy(build: "120")
        let page = page(
            report(
                of: policy, against: policy,
                [("37", "2010-05-15", 3), ("37", "2010-06-20", 2), ("37", "2010-07-02", 1), ("37", "2015-06-01", 1)]))
        #expect(page.contains("<title>Q2 2010: keeps it 5</title>"))
        #expect(page.contains("<title>Q3 2010: keeps it 1</title>"))
    }

    @Test func `customers without a purchase date are counted under the chart of a rehearsal page`() throws {
        let policy = try Self.policy(build: "120")
        let page = page(report(of: policy, against: policy, [("37", "2014-05-01", 3), ("37", nil, 4)]))
        #expect(page.contains("<p class=\"note\">4 customers without a purchase date in this range.</p>"))
    }

    @Test func `a changeover window of a few days is visible in a rehearsal chart of several years`() throws {
        let policy = try Self.policy(build: "120")
        let page = page(report(of: policy, against: policy, [("1", "2009-05-01", 3), ("130", "2015-12-01", 2)]))
        let window = try #require(page.components(separatedBy: "<rect class=\"changeover\"").dropFirst().first)
        let width = try #require(
            window.components(separatedBy: "width=\"").dropFirst().first?.split(separator: "\"").first)
        #expect(try #require(Double(width)) >= 3)
        #expect(page.contains("<i class=\"changeover\"></i>changeover window</span>"))
    }

    @Test func `the table of a rehearsal page marks an era's beginning above the row of its first build`() throws {
        let policy = try Self.policy(build: "120")
        let page = page(
            report(
                of: policy, against: policy,
                [("119", "2014-05-01", 1), ("120", "2015-07-01", 1), ("121", "2015-08-01", 1)]))
        let places = ["<span>119</span>", "free begins with 120", "<span>120</span>", "<span>121</span>"].compactMap {
            page.range(of: $0)?.lowerBound
        }
        #expect(places.count == 4 && places == places.sorted())
    }

    @Test func `a rehearsal page shows build numbers of 18 characters whole, even in ranges`() throws {
        let policy = try Self.policy(build: "300000000000000000")
        let builds = (10..<40).map { "2024011012000000\($0)" }
        let page = page(report(of: policy, against: policy, builds.map { ($0, "2014-05-01", 1) }))
        #expect(page.contains("<div class=\"row\"><span>202401101200000010–<wbr>20240110120000001"))
        let one = self.page(report(of: policy, against: policy, [("202401101200000010", "2014-05-01", 1)]))
        #expect(one.contains("<div class=\"row\"><span>202401101200000010</span>"))
    }

    @Test func `the style of a rehearsal page breaks long names and never shortens a label`() throws {
        let policy = try Self.policy(build: "120")
        let page = page(report(of: policy, against: policy, [("37", "2014-05-01", 1)]))
        let style = try #require(page.components(separatedBy: "</style>").first)
        // `break-word` doesn't reduce the minimum width of a column in a grid or a table.
        #expect(style.contains("overflow-wrap: anywhere") && !style.contains("overflow-wrap: break-word"))
        #expect(style.contains(".cause { grid-template-columns: minmax(0, 1fr); }"))
        #expect(!style.contains("text-overflow"))
    }

    @Test func `the numbers under the summary of a rehearsal page add up to all customers`() throws {
        let page = page(
            report(
                of: try Self.policy(build: "100"), against: try Self.policy(build: "120"),
                [("110", nil, 2), ("37", "2014-05-01", 5)]))
        #expect(
            page.contains(
                "<p class=\"note\">All customers: 2 with another outcome, 0 with only another reason, 5 without any change.</p>"
            ))
    }

    @Test func `a rehearsal page lists the largest losses first, and the headline counts all customers who lose`()
        throws
    {
        let report = report(
            of: try Self.policy(build: "100", honors: false), against: try Self.policy(build: "120"),
            // Two customers lose both entitlements, and five customers lose only the cloud.
            [("110", nil, 2), ("37", "2014-05-01", 5)])
        #expect(report.tally.losing == 7)
        #expect(
            report.headline.sentence
                == "Do not ship: 7 customers of builds 37–110 on iOS would lose `cloud` and 2 customers of build 110 on iOS would lose `everything`, 7 customers in all."
        )
        let amounts = page(report).components(separatedBy: "<div class=\"amount\">").dropFirst().compactMap {
            $0.split(separator: "<").first.map(String.init)
        }
        #expect(amounts.count > 1 && amounts == amounts.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }, "\(amounts)")
    }

    @Test func `a rehearsal's headline names each entitlement that customers lose`() throws {
        let change = Population.date("2015-01-01")
        func policy(_ honors: [Honor], _ others: [Honor]) throws -> Policy {
            let plain = try Self.policy(build: "120")
            return try Policy(
                app: plain.app, eras: plain.eras, buildNumbers: plain.buildNumbers,
                entitlements: [
                    Entitlement(name: "everything", honors: honors), Entitlement(name: "cloud", honors: others),
                ], inDoubt: .undetermined)
        }
        let report = report(
            of: try policy([], []),
            against: try policy(
                [Honor(era: "paid", boughtBefore: change)], [Honor(era: "paid", boughtSince: change)]),
            [("37", "2014-05-01", 5), ("90", "2015-05-01", 3)])
        #expect(report.tally.losing == 8)
        #expect(
            report.headline.sentence
                == "Do not ship: 5 customers of build 37 on iOS would lose `everything` and 3 customers of build 90 on iOS would lose `cloud`, 8 customers in all."
        )
    }

    @Test func `a rehearsal counts a right that becomes undetermined only as a loss`() throws {
        let old = try Self.policy(build: "120")
        let new = try Policy(
            app: old.app, eras: old.eras, buildNumbers: .restarted, entitlements: old.entitlements,
            inDoubt: .undetermined)
        let report = report(of: new, against: old, [("37", nil, 3), ("37", "2014-05-01", 2)])
        let counts = report.tally.byEntitlement[0].counts
        #expect(counts.loses == 3 && counts.undetermined == 3 && counts.denied == 0)
        let legend = try #require(page(report).components(separatedBy: "<div class=\"legend\">").dropFirst().first)
        let numbers = legend.components(separatedBy: "<b>").dropFirst().compactMap {
            $0.split(separator: "<").first.map(String.init)
        }
        #expect(numbers.prefix(5) == ["2", "0", "0", "0", "3"])
    }

    @Test func `merging the counts of two rehearsal tasks adds contradictions and unlisted products`() throws {
        let comparison = Comparison(of: try Self.policy(build: "120"), against: nil, at: Population.now)
        func part(_ id: String, _ type: Purchase.ProductType) -> Tally {
            var tally = Tally(for: comparison)
            let proof = Population.appTransaction(id, bought: "2015-12-01")
            let purchase = Purchase(
                transactionID: id, productID: "com.example.calculator.\(type)", type: type,
                purchaseDate: Population.now, signedDate: Population.now)
            comparison.count(
                Evidence(
                    environment: .production, app: [proof], transactions: [purchase], purchasesAreComplete: true),
                id: id, exportedID: nil, in: &tally)
            return tally
        }
        var tally = part("1", .consumable)
        tally.add(part("2", .nonConsumable))
        #expect(tally.customers == 2 && tally.contradicting == 2)
        // A consumable grants no right, so the list leaves it out.
        #expect(tally.productsWithoutEntitlement == ["com.example.calculator.nonConsumable": 1])
    }

    @Test func `a rehearsal's headline asks for a check if proofs contradict each other, even without a loss`() throws {
        let policy = try Self.policy(build: "120")
        let plain = report(of: policy, against: policy, [("37", "2014-05-01", 3)])
        #expect(plain.headline.level == .go)
        let contradicting = report(of: policy, against: policy, [("37", "2014-05-01", 3), ("37", "2015-12-01", 1)])
        #expect(contradicting.tally.contradicting == 1 && contradicting.tally.losing == 0)
        #expect(contradicting.headline.level == .check)
        #expect(
            contradicting.headline.sentence
                == "Check before you ship: every outcome stays the same for all 4 customers; 1 customer (25.0%) has contradicting proofs."
        )
        #expect(page(contradicting).contains("<header class=\"verdict check\">"))
    }
}
