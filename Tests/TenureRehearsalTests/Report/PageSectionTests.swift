import Foundation
import TenureCore
import TenurePolicyFile
import TenurePolicyLint
import Testing

@testable import TenureRehearsal

/// Which parts of a rehearsal page are collapsed, and what the page says about its source.
struct PageSectionTests {
    private static let owner = Answer(.granted, reason: .eraHonored)
    private static let product = Answer(.granted, reason: .product)

    /// - Parameter promised: The entitlements that neither policy has and all customers were promised.
    private func page(
        _ changes: [(name: String, now: Answer)] = [("a", Self.owner)], promised: [String] = [], skipped: Int = 0,
        findings: [LintFinding] = []
    ) throws -> String {
        let comparison = Comparison(
            of: try Population.policy(freeFrom: "100"), against: try Population.policy(freeFrom: "120"),
            at: Population.now)
        var tally = Tally(entitlements: changes.map(\.name))
        let promise = Answer(.granted, reason: .promise)
        let effects =
            changes.map { Effect(entitlement: $0.name, now: $0.now, before: Self.owner) }
            + promised.map { Effect(entitlement: $0, now: .notInPolicy, before: promise) }
        for platform in Platform.allCases.map(Optional.some) + [nil] {
            let proof = AppProof(
                kind: .appTransaction, signedDate: Population.now, id: .appTransaction("1"), originalPlatform: platform,
                originalAppVersion: "1")
            tally.add(
                RehearsedCustomer(
                    id: platform?.rawValue ?? "none",
                    Evidence(environment: .production, app: [proof], purchasesAreComplete: true)),
                CustomerEffects(
                    ifPromisesEnd: effects, ifPromisesAreKept: effects, hasContradictingProofs: false,
                    productsWithoutEntitlement: []))
        }
        let report = RehearsalReport(
            policyName: "a/new.yaml", oldPolicyName: "b/old.yaml", comparison: comparison,
            input: .database(name: "/srv/tenure.sqlite", skipped: skipped), tally: tally, findings: findings)
        return String(decoding: HTMLReport.bytes(of: report), as: UTF8.self)
    }

    private func section(_ title: String, of page: String) throws -> String {
        let rest = try #require(page.components(separatedBy: "<h2>\(title)</h2>").dropFirst().first, "\(title)")
        return rest.components(separatedBy: "<h2>")[0]
    }

    @Test
    func `a rehearsal page shows twelve charts, first those of entitlements with changes, and collapses the others`()
        throws
    {
        let summary = "<details><summary>By platform</summary>"
        func collapsed(_ changes: [(name: String, now: Answer)]) throws -> [String] {
            let page = try page(changes)
            return try changes.map(\.name).filter { try section($0, of: page).contains(summary) }
        }
        let (same, shorter) = (Self.owner, Answer(.granted, until: Population.now, reason: .eraHonored))
        // Each entitlement has a chart for each of five platforms, and one for customers without a platform.
        #expect(try collapsed([("a", same), ("b", same)]) == [])
        #expect(try collapsed([("a", same), ("b", same), ("c", same)]) == ["c"])
        #expect(try collapsed([("a", same), ("b", same), ("c", shorter)]) == ["b"])
        // A changed reason isn't a change of the outcome.
        #expect(try collapsed([("a", same), ("b", same), ("c", Self.product)]) == ["c"])
    }

    @Test func `a rehearsal page has a section for each entitlement that only promises hold, after the others`() throws
    {
        let page = try page([("b", Self.owner)], promised: ["old", "a"])
        let titles = page.components(separatedBy: "<h2>").dropFirst().map { $0.components(separatedBy: "</h2>")[0] }
        #expect(titles.filter { ["a", "b", "old"].contains($0) } == ["b", "a", "old"])
        for name in ["a", "old"] {
            let text = try section(name, of: page)
            #expect(text.contains("<i class=\"loses\"></i>loses it <b>6</b> ("), "\(text)")
            #expect(text.contains("denied: the policy doesn&#39;t have the entitlement"), "\(text)")
            #expect(!text.contains("<div class=\"panels\">"))
        }
    }

    @Test func `a rehearsal page shows six findings that need attention, and collapses the others`() throws {
        func findings(_ count: Int) -> [LintFinding] {
            (1...count).map { number in
                LintFinding(
                    PolicyFileMistake(
                        "wrong \(number)", at: SourcePosition(file: "a/policy.yaml", line: number, column: 3)))
            }
        }
        func finding(_ number: Int) -> String {
            "<div class=\"finding\"><p><b class=\"severity error\">error</b> wrong \(number) "
                + "<span class=\"soft\">policy.yaml:\(number), mistake</span></p>\n</div>\n"
        }
        let six = try section("What the policy check found", of: page(findings: findings(6)))
        #expect(six == "\n" + (1...6).map(finding).joined())
        let eight = try section("What the policy check found", of: page(findings: findings(8)))
        let more = "<details><summary>2 more findings</summary>\n" + finding(7) + finding(8) + "</details>\n"
        #expect(eight == "\n" + (1...6).map(finding).joined() + more)
        #expect(try page(findings: findings(1)).contains("<h1>Do not ship: <code>tenure policy check</code> reports"))
    }

    @Test func `a rehearsal page names the database and the policies without their folders`() throws {
        let page = try page(skipped: 1)
        #expect(page.contains("<title>Rehearsal of new.yaml</title>"))
        #expect(
            page.contains(
                "<p class=\"soft\">Rehearsal of new.yaml compared with old.yaml, for 6 customers of com.example.calculator, as of January 1, 2016.</p>"
            ))
        let source = try section("Where the numbers come from", of: page)
        #expect(
            source.hasPrefix(
                "\n<p>The database of a service, tenure.sqlite, with 6 customers.</p>\n<p class=\"soft\">Not counted: 1 customer from another environment or a test authority.</p>\n"
            ))
        #expect(try self.page(skipped: 2).contains("Not counted: 2 customers from another environment"))
        #expect(try !self.page().contains("Not counted"))
        #expect(!page.contains("/srv/"))
    }

    @Test func `a right that ends earlier is a loss with its new end on a rehearsal page, and isn't kept`() throws {
        let shorter = Answer(.granted, until: Population.date("2016-06-01"), reason: .eraHonored)
        let page = try page([("a", shorter)])
        #expect(page.contains("<i class=\"granted\"></i>keeps it <b>0</b> (0.00%)"))
        #expect(page.contains("<i class=\"loses\"></i>loses it <b>6</b> (100.0%)"))
        #expect(page.contains("<span class=\"soft\">(6 of them lose it, because it ends earlier)</span>"))
        for (noun, count) in [("build", 4), ("version", 2)] {
            let end = ", \(noun) 1, now ends on June 1, 2016</li>"
            #expect(page.components(separatedBy: end).count - 1 == count, "\(noun)")
        }
    }

    @Test func `platforms with equally many customers are in the order of their names on a rehearsal page`() throws {
        let names = try page().components(separatedBy: "<h4>").dropFirst().map {
            $0.components(separatedBy: " <span>")[0]
        }
        #expect(names == ["Unknown platform", "iOS", "macOS", "tvOS", "visionOS", "watchOS"])
    }

    @Test func `a rehearsal page counts all customers who have something only because of a promise`() throws {
        let page = try page([("a", Answer(.granted, reason: .promise)), ("b", Self.owner)])
        let card = "<div class=\"card \"><b>6</b><span>have something only because of a promise</span></div>"
        #expect(page.contains(card))
        #expect(try !self.page().contains("because of a promise"))
    }
}
