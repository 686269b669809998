import Foundation
import TenureCore
import TenurePolicyFile
import Testing

@testable import TenureRehearsal

struct ReportTests {
    private static let hostile = "<script>alert('1')</script>&\"\u{1B}[31m"

    private func report(showsIDs: Bool, policyName: String = "new.yaml") throws -> RehearsalReport {
        let comparison = Comparison(
            of: try Population.policy(freeFrom: "100"), against: try Population.policy(freeFrom: "120"),
            at: Population.now)
        var tally = Tally(for: comparison)
        for customer in Population.customers(600, seed: 4) {
            comparison.count(
                customer.evidence, id: "appTransactionID 7040000\(customer.id)",
                exportedID: customer.id == "100" ? nil : "user \(customer.id)\(Self.hostile)", in: &tally)
        }
        return RehearsalReport(
            policyName: policyName, oldPolicyName: "old.yaml", comparison: comparison,
            input: .database(name: "database", skipped: 3), tally: tally, showsIDs: showsIDs)
    }

    private func page(_ report: RehearsalReport) -> String {
        String(decoding: HTMLReport.bytes(of: report), as: UTF8.self)
    }

    @Test func `a rehearsal report shows no IDs of customers unless --identify asks for them`() throws {
        let report = try report(showsIDs: false)
        let text = TextReport(report).lines.map { "\($0)" }.joined()
        for output in [page(report), String(decoding: report.json(), as: UTF8.self), text] {
            #expect(!output.contains("7040000"))
            #expect(!output.contains("user 1"))
            #expect(output.contains("customer 1"))
        }
        #expect(page(try self.report(showsIDs: true)).contains("user 1"))
    }

    @Test func `untrusted text on a rehearsal page is escaped and never becomes markup`() throws {
        let page = try page(report(showsIDs: true, policyName: "new\(Self.hostile).yaml"))
        #expect(!page.contains("<script"))
        #expect(!page.contains("\u{1B}"))
        #expect(page.contains("&lt;script&gt;"))
    }

    @Test func `a rehearsal page loads no other file`() throws {
        let page = try page(report(showsIDs: false))
        for word in ["http://", "https://", "src=", "@import", "url(", "<link", "<script"] {
            #expect(!page.contains(word), "\(word)")
        }
        #expect(page.contains("prefers-color-scheme: dark"))
        #expect(page.contains("@media print"))
        #expect(page.contains("<svg role=\"img\""))
    }

    @Test func `a rehearsal page closes every tag that it opens`() throws {
        let page = try page(report(showsIDs: false))
        for name in ["svg", "table", "tbody", "div", "g", "style", "body", "html", "p", "h2", "h3"] {
            let opened =
                page.components(separatedBy: "<\(name)>").count + page.components(separatedBy: "<\(name) ").count - 2
            #expect(opened == page.components(separatedBy: "</\(name)>").count - 1, "\(name)")
        }
    }

    @Test func `a rehearsal's text counts customers who lose, gain, change and don't change in this order`() throws {
        let (owner, newcomer) = (Answer(.granted, reason: .eraHonored), Answer(.denied, reason: .eraNotHonored))
        // All numbers differ, so the text shows if two of them are swapped.
        let changes: [(before: Answer, now: Answer, customers: Int)] = [
            (owner, newcomer, 1), (newcomer, owner, 2),
            (newcomer, Answer(.undetermined, reason: .inDoubt), 4), (owner, Answer(.granted, reason: .product), 3),
            (newcomer, newcomer, 5),
        ]
        let comparison = Comparison(
            of: try Population.policy(freeFrom: "100"), against: try Population.policy(freeFrom: "120"),
            at: Population.now)
        let evidence = Evidence(
            environment: .production, app: [Population.appTransaction()], transactions: [], purchasesAreComplete: true)
        var tally = Tally(for: comparison)
        for change in changes {
            let effects = comparison.entitlements.map {
                Effect(entitlement: $0, now: change.now, before: change.before)
            }
            let customerEffects = CustomerEffects(
                ifPromisesEnd: effects, ifPromisesAreKept: effects, hasContradictingProofs: false,
                productsWithoutEntitlement: [])
            for _ in 0..<change.customers {
                tally.add(RehearsedCustomer(id: "\(tally.customers)", evidence), customerEffects)
            }
        }
        let report = RehearsalReport(
            policyName: "new.yaml", oldPolicyName: "old.yaml", comparison: comparison,
            input: .database(name: "database", skipped: 0), tally: tally)
        let numbers =
            "1 would lose something, 2 would gain something, 7 would have another outcome in all, 3 only another reason, 5 no change"
        #expect(TextReport(report).lines.contains(.plain("  " + numbers)))
    }

    @Test func `a rehearsal's JSON has every number of customers that the terminal shows`() throws {
        let report = try report(showsIDs: false)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(report.json())) as? [String: Any])
        let customers = try #require(object["customers"] as? [String: Int])
        let tally = report.tally
        let expected: [String: Int] = [
            "total": tally.customers, "gaining": tally.gaining, "losing": tally.losing,
            "losingWithPromises": tally.losingWithPromises, "changed": tally.changed,
            "changingReason": tally.changingReason, "unchanged": report.unchanged,
            "heldByPromise": tally.heldByPromise, "contradicting": tally.contradicting,
        ]
        #expect(customers == expected)
        #expect(tally.losing > 0 && tally.customers == 600)
        #expect((object["input"] as? [String: Any])?["skipped"] as? Int == 3)
        let entitlements = try #require(object["entitlements"] as? [[String: Any]])
        #expect(entitlements.map { $0["name"] as? String } == ["everything", "cloud"])
        for (written, tally) in zip(entitlements, report.tally.byEntitlement) {
            for outcome in Decision.Outcome.allCases {
                #expect(written[outcome.rawValue] as? Int == tally.counts[outcome], "\(outcome)")
            }
            for change in Change.inReports {
                #expect(written[change.rawValue] as? Int == tally.counts[change], "\(change)")
            }
            let (reasons, transitions) = (
                written["reasons"] as? [[String: Any]], written["transitions"] as? [[String: Any]]
            )
            #expect(reasons?.compactMap { $0["count"] as? Int } == tally.sortedReasons.map(\.count))
            #expect(transitions?.compactMap { $0["count"] as? Int } == tally.sortedTransitions.map(\.count))
        }
        let places = try #require(object["places"] as? [[String: Any]])
        let granted = places.compactMap { ($0["everything"] as? [String: Int])?["granted"] }.reduce(0, +)
        #expect(granted == report.tally.byEntitlement[0].counts.granted)
    }

    @Test func `a rehearsal without customers still gives a report`() throws {
        let comparison = Comparison(of: try Population.policy(freeFrom: "100"), at: Population.now)
        let report = RehearsalReport(
            policyName: "new.yaml", oldPolicyName: nil, comparison: comparison,
            input: .database(name: "database", skipped: 0), tally: Tally(for: comparison))
        #expect(page(report).contains("</html>"))
        #expect(!TextReport(report).lines.isEmpty)
        #expect(try JSONSerialization.jsonObject(with: Data(report.json())) is [String: Any])
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-1234, "-1,234")])
    func `numbers in a rehearsal report have commas between thousands`(number: Int, text: String) {
        #expect(number.grouped == text)
    }

    @Test(arguments: [
        (0, 10, "0.00%"), (1, 100_000, "<0.01%"), (99_999, 100_000, ">99.99%"), (1, 3, "33.3%"), (1, 0, "0%"),
        (1, 10_000, "0.01%"), (9_999, 10_000, "99.99%"), (9_996, 10_000, "99.96%"), (998, 1_000, "99.8%"),
        (9_999, 100_000, "10.0%"), (9_994, 100_000, "9.99%"), (10, 100, "10.0%"), (10, 10, "100.0%"),
    ])
    func `a small share is never shown as 0%, and a share below all never as 100%`(count: Int, total: Int, text: String)
    {
        #expect(count.share(of: total) == text)
    }

    @Test func `the versions and months in a rehearsal report are sorted by their number of customers`() throws {
        let totals = try report(showsIDs: false).tally.cells.sorted.map { $0.counts.first?.total ?? 0 }
        #expect(totals == totals.sorted(by: >) && totals.first != totals.last)
    }
}
