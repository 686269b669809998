import Foundation
import TenureCore
import Testing

@testable import TenureRehearsal

/// The structure of the page and the position of its parts, for a few customers who are counted by hand.
struct PageTests {
    /// The new policy ends the paid era of iOS at build 100 instead of 120; that of macOS stays.
    private static func policy(build: String, date: String) throws -> Policy {
        try Policy(
            app: .init(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "free", model: .free,
                    begins: [
                        .iOS: .at(version: AppVersion(build), date: Population.date(date)),
                        .macOS: .at(version: AppVersion("2.0"), date: Population.date("2015-09-01")),
                    ], changeover: .noWindow),
            ],
            buildNumbers: .increasing,
            entitlements: [Entitlement(name: "everything", honors: [Honor(era: "paid")])],
            inDoubt: .undetermined)
    }

    private static let customers: [(platform: Platform, version: String, bought: String, count: Int)] = [
        (.iOS, "90", "2014-05-10", 5), (.iOS, "104", "2015-02-20", 2), (.iOS, "110", "2015-03-10", 3),
        (.iOS, "150", "2015-07-10", 4), (.macOS, "1.5", "2014-08-10", 2),
        (.macOS, "3.0", "2015-10-10", 1),
    ]

    private func page(from old: (String, String), to new: (String, String)) throws -> String {
        let comparison = Comparison(
            of: try Self.policy(build: new.0, date: new.1),
            against: try Self.policy(build: old.0, date: old.1),
            at: Population.now)
        var tally = Tally(for: comparison)
        var number = 0
        for (platform, version, bought, count) in Self.customers {
            for _ in 0..<count {
                number += 1
                let proof = Population.appTransaction("\(number)", on: platform, version: version, bought: bought)
                let evidence = Evidence(
                    environment: .production, app: [proof], transactions: [], purchasesAreComplete: true)
                comparison.count(evidence, id: "appTransactionID \(number)", exportedID: nil, in: &tally)
            }
        }
        let report = RehearsalReport(
            policyName: "new.yaml", oldPolicyName: "old.yaml", comparison: comparison,
            input: .database(name: "database", skipped: 0), tally: tally, showsIDs: false)
        return String(decoding: HTMLReport.bytes(of: report), as: UTF8.self)
    }

    private static let earlier = (("120", "2015-06-10"), ("100", "2015-02-01"))
    private static let later = (("100", "2015-02-01"), ("120", "2015-06-10"))

    /// Returns each text between an occurrence of `start` and the next `end`.
    private func between(_ start: String, _ end: String, in text: String) -> [String] {
        text.components(separatedBy: start).dropFirst().compactMap { rest in
            rest.components(separatedBy: end).first
        }
    }

    private func section(_ title: String, of page: String) throws -> String {
        try #require(between("<h2>\(title)</h2>", "<h2>", in: page).first, "\(title)")
    }

    @Test func `a rehearsal page without a changeover window has no legend of one`() throws {
        #expect(try !page(from: Self.earlier.0, to: Self.earlier.1).contains("changeover window"))
    }

    @Test func `a rehearsal page begins with a verdict in one sentence, in the color of its level`() throws {
        let losing = try page(from: Self.earlier.0, to: Self.earlier.1)
        let body = try #require(losing.components(separatedBy: "<body>").last)
        #expect(body.hasPrefix("\n<header class=\"verdict stop\">\n<h1>Do not ship: 5 "))
        #expect(
            try section("Who loses, and why", of: losing).contains("No customer loses anything.") == false)
        let gaining = try page(from: Self.later.0, to: Self.later.1)
        #expect(!gaining.contains("<header class=\"verdict stop\">"))
        #expect(
            try section("Who loses, and why", of: gaining).contains("<p>No customer loses anything.</p>"))
    }

    @Test func `the summary of a rehearsal page counts who loses, who gains, and who sees no change`() throws {
        func cards(_ page: String) -> [String] {
            between("<div class=\"card ", "</div>", in: page)
        }
        #expect(
            try cards(page(from: Self.earlier.0, to: Self.earlier.1)) == [
                "\"><b>17</b><span>customers</span>", "loses\"><b>5</b><span>would lose something</span>",
                "\"><b>0</b><span>would gain something</span>", "\"><b>12</b><span>would see no change at all</span>",
            ])
        #expect(
            try cards(page(from: Self.later.0, to: Self.later.1)) == [
                "\"><b>17</b><span>customers</span>", "\"><b>0</b><span>would lose something</span>",
                "gains\"><b>5</b><span>would gain something</span>",
                "\"><b>12</b><span>would see no change at all</span>",
            ])
    }

    @Test func `a rehearsal page lists losses by cause with versions and months, and collapses examples`() throws {
        let losses = try section(
            "Who loses, and why", of: page(from: Self.earlier.0, to: Self.earlier.1))
        let causes = between("<div class=\"cause\">", "</div></div>", in: losses)
        #expect(causes.count == 1)
        let cause = try #require(causes.first)
        #expect(cause.hasPrefix("<div class=\"amount\">5</div>"))
        #expect(
            cause.contains("<b>customers on iOS, builds 104–110, who got the app from Feb 2015 to Mar 2015</b>"))
        #expect(cause.contains("lose <code>everything</code>. Before: granted, "))
        #expect(cause.contains(" Now: denied, "))
        let folded = try #require(between("<details>", "</details>", in: cause).first)
        #expect(folded.hasPrefix("<summary>5 examples</summary><ul>"))
        let examples = between("<li>", "</li>", in: folded)
        #expect(examples.count == 5)
        #expect(examples.filter { $0.hasSuffix("build 104, got the app on February 20, 2015") }.count == 2)
        #expect(examples.filter { $0.hasSuffix("build 110, got the app on March 10, 2015") }.count == 3)
        #expect(!cause.components(separatedBy: "<details>")[0].contains("<li>"))
    }

    @Test func `a rehearsal page has a panel with the eras of each platform, and the largest platform is first`() throws
    {
        let page = try page(from: Self.earlier.0, to: Self.earlier.1)
        let panels = between("<section class=\"panel\">", "</section>", in: page)
        #expect(panels.count == 2)
        for (panel, (name, count, era, boundary)) in zip(
            panels,
            [
                ("iOS", "14 customers", "paid until February 1, 2015; free since then", "100"),
                ("macOS", "3 customers", "paid until September 1, 2015; free since then", "2.0"),
            ])
        {
            #expect(panel.contains("<h4>\(name) <span>\(count)</span></h4>"))
            #expect(panel.contains("Eras: \(era)."))
            #expect(
                between("<div class=\"begins\"><span>", "</span>", in: panel) == [
                    "free begins with \(boundary)"
                ])
            #expect(
                between("<text class=\"axisTitle\"", "</text>", in: panel).map {
                    $0.split(separator: ">")[1]
                }
                    == ["Customers per month", "Purchase date"])
            #expect(panel.contains("aria-label=\"\(name): customers by purchase date"))
            #expect(
                between("<text class=\"eraName\"", "</text>", in: panel).allSatisfy {
                    ["paid", "free"].contains($0.split(separator: ">").last.map(String.init))
                })
            #expect(between("<line class=\"era\"", "</title>", in: panel).count == 1)
        }
        #expect(
            panels.first?.contains("<span>Build</span>") == true
                && panels.last?.contains("<span>Version</span>") == true)
    }

    @Test func `each bar and version row of a rehearsal page shows its number of customers`() throws {
        let page = try page(from: Self.earlier.0, to: Self.earlier.1)
        let panels = between("<section class=\"panel\">", "</section>", in: page)
        let ios = try #require(panels.first)
        let bars = between("<g><title>", "</g>", in: ios)
        #expect(
            bars.compactMap { $0.components(separatedBy: "</title>").first } == [
                "May 2014: keeps it 5", "Feb 2015: loses it 2", "Mar 2015: loses it 3",
                "Jul 2015: doesn’t have it 4",
            ])
        #expect(
            bars.compactMap { between("<rect class=\"", "\"", in: $0).first } == [
                "granted", "loses", "loses", "denied",
            ])
        // The height of the highest bar matches its count, and every bar begins at the axis.
        let axis = try #require(between("<line class=\"axis\" ", "/>", in: ios).first)
        let bottom = try #require(between("y1=\"", "\"", in: axis).first.flatMap(Double.init))
        var heights: [Double] = []
        for bar in bars {
            let y = try #require(between(" y=\"", "\"", in: bar).first.flatMap(Double.init))
            let height = try #require(between("height=\"", "\"", in: bar).first.flatMap(Double.init))
            #expect(abs(y + height - bottom) < 0.02)
            heights.append(height)
        }
        let unit = (heights.first ?? 0) / 5
        #expect(zip(heights, [5.0, 2, 3, 4]).allSatisfy { abs($0 - unit * $1) < 0.02 })
        let rows = between("<div class=\"row\"><span>", "</div>", in: ios)
        #expect(
            rows.compactMap { $0.components(separatedBy: "<").first } == ["90", "104", "110", "150"])
        #expect(rows.map { between("<span>", "</span>", in: $0).last } == ["5", "2", "3", "4"])
        #expect(
            rows.compactMap { between("title=\"", "\"", in: $0).first }
                == ["keeps it 5", "loses it 2", "loses it 3", "doesn’t have it 4"])
        // The boundary is above the first build of its era.
        let order = ["<span>90</span>", "free begins with 100", "<span>104</span>"]
            .compactMap { ios.range(of: $0)?.lowerBound }
        #expect(order.count == 3 && order == order.sorted())
    }

    @Test func `the legend of a rehearsal page counts each part once, and each part has a distinct color`() throws {
        let page = try page(from: Self.earlier.0, to: Self.earlier.1)
        let legend = try #require(between("<div class=\"legend\">", "</div>", in: page).first)
        #expect(
            between("<i class=\"", "\"", in: legend) == [
                "granted", "gains", "undetermined", "denied", "loses",
            ])
        #expect(between("<b>", "</b>", in: legend) == ["7", "0", "0", "5", "5"])
        #expect(legend.contains("keeps it <b>7</b> (41.2%)"))
        for part in ["granted", "gains", "undetermined", "denied", "loses"] {
            #expect(page.contains("i.\(part) { background: var(--\(part)); }"))
            #expect(page.contains("rect.\(part) { fill: var(--\(part)); }"))
        }
        // In light, in dark and on paper, no two parts have one color.
        for name in ["granted", "gains", "undetermined", "denied", "loses"] {
            #expect(between("--\(name): ", ";", in: page).count == 3)
        }
        for scheme in 0..<3 {
            let colors = ["granted", "gains", "undetermined", "denied", "loses", "changeover"]
                .map { between("--\($0): ", ";", in: page)[scheme] }
            #expect(Set(colors).count == colors.count)
        }
    }

    @Test func `the style of a rehearsal page has separate rules for phones and for paper`() throws {
        let css = try #require(
            between("<style>", "</style>", in: page(from: Self.earlier.0, to: Self.earlier.1)).first)
        #expect(css.contains("@media (max-width: 600px)"))
        let print = try #require(css.components(separatedBy: "@media print").last)
        #expect(print.contains("details { display: none; }") && print.contains("break-inside: avoid"))
        #expect(print.contains("print-color-adjust: exact"))
    }
}
