import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import Testing

@testable import TenureRehearsal

struct ReportDetailTests {
    private func report(
        showsIDs: Bool = false, rejecting rejected: Int = 0, of lines: Int = 400
    ) throws -> RehearsalReport {
        let comparison = Comparison(
            of: try Population.policy(freeFrom: "100"), against: try Population.policy(freeFrom: "120"),
            at: Population.now)
        var tally = Tally(for: comparison)
        for customer in Population.customers(400, seed: 4) {
            comparison.count(customer.evidence, id: customer.id, in: &tally)
        }
        var counts = InputCounts()
        for line in 0..<lines {
            let faults = line < rejected ? [LineFault(.invalidJSON, "it ends early")] : []
            counts.add(line: faults, isUsable: faults.isEmpty)
        }
        return RehearsalReport(
            policyName: "new.yaml", oldPolicyName: "old.yaml", comparison: comparison,
            input: .evidence(name: "lines", counts: counts, badLines: nil, anonymousIDs: []), tally: tally,
            showsIDs: showsIDs)
    }

    @Test func `a rehearsal's JSON has the exact purchase date of an example customer only with --identify`() throws {
        func lengths(showsIDs: Bool) throws -> Set<Int> {
            let json = String(decoding: try report(showsIDs: showsIDs).json(.compact), as: UTF8.self)
            let dates = json.components(separatedBy: "\"originalPurchaseDate\":\"").dropFirst()
            return Set(dates.map { $0.prefix { $0 != "\"" }.count })
        }
        #expect(try lengths(showsIDs: false) == ["2014-05-01".count])
        #expect(try lengths(showsIDs: true) == ["2014-05-01T00:00:00Z".count])
    }

    @Test(arguments: [
        (Rejection.Code.wrongApp, "<td>of another app"),
        (.wrongEnvironment, "rehearsed, such as Sandbox"),
        (.badSignature, "<td>changed after it was signed"),
    ])
    func `a rehearsal page explains the codes of rejected lines`(code: Rejection.Code, phrase: String) throws {
        var counts = InputCounts()
        counts.add(line: [LineFault(.rejected(code), "detail")], isUsable: false)
        let report = RehearsalReport(
            policyName: "new.yaml", oldPolicyName: nil,
            comparison: Comparison(of: try Population.policy(freeFrom: "100"), against: nil, at: Population.now),
            input: .evidence(name: "lines", counts: counts, badLines: nil, anonymousIDs: []),
            tally: Tally(
                for: Comparison(of: try Population.policy(freeFrom: "100"), against: nil, at: Population.now)),
            showsIDs: false)
        let page = String(decoding: HTMLReport.bytes(of: report), as: UTF8.self)
        #expect(page.contains("\(phrase) "), "\(page)")
    }

    @Test(arguments: [(0, 400, true), (20, 400, true), (21, 400, false), (1, 20, true), (1, 19, false)])
    func `a rehearsal passes with exactly 5% of rejected lines, and fails with more`(
        rejected: Int, lines: Int, passes: Bool
    ) throws {
        #expect(try report(rejecting: rejected, of: lines).failures.isEmpty == passes)
    }

    @Test func `the terminal report of a rehearsal counts rejected lines by reason, if any were rejected`() throws {
        func lines(rejecting rejected: Int) throws -> [TextReport.Line] {
            TextReport(try report(rejecting: rejected)).lines
        }
        #expect(try lines(rejecting: 20).contains(.plain("  rejected lines: \(LineFault.Code.invalidJSON.name) 20")))
        for line in try lines(rejecting: 0) { #expect(!"\(line)".contains("rejected lines"), "\(line)") }
    }

    @Test func `the versions of a rehearsal's losses are joined to a range in any order`() throws {
        for texts in [["9", "10", "1.0", "1", "120"], ["120", "1", "1.0", "10", "9"]] {
            var range: VersionRange?
            for text in texts { range = VersionRange(try #require(AppVersion(text))).joined(with: range) }
            #expect(range?.lowest.description == "1")
            #expect(range?.highest.description == "120")
        }
    }

    @Test func `every character that is markup is escaped on a rehearsal page`() {
        #expect("<a title=\"y\">".htmlEscaped == "&lt;a title=&quot;y&quot;&gt;")
        #expect("<a href='x'>&amp;".htmlEscaped == "&lt;a href=&#39;x&#39;&gt;&amp;amp;")
        #expect("Ada's \u{202E}keys".htmlEscaped.hasPrefix("Ada&#39;s "))
        #expect(!"\u{202E}".htmlEscaped.unicodeScalars.contains("\u{202E}"))
    }

    @Test func `a rehearsal with too many rejected lines gives no verdict, even if customers lose something`() throws {
        let rejected = try report(rejecting: 21)
        #expect(rejected.tally.losing > 0 && rejected.headline.level == .stop)
        #expect(
            rejected.headline.sentence
                == "No verdict: more than 5% of the lines have a rejected artifact; 21 of 400 lines (5.25%) were rejected, whole or in part."
        )
        #expect(try report(rejecting: 20).headline.sentence.hasPrefix("Do not ship: "))
    }

    @Test func `a rehearsal's JSON has no changes without an old policy, and no placeholder without --identify`()
        throws
    {
        let comparison = Comparison(of: try Population.policy(freeFrom: "100"), at: Population.now)
        var tally = Tally(for: comparison)
        for customer in Population.customers(40, seed: 4) {
            comparison.count(customer.evidence, id: customer.id, in: &tally)
        }
        let report = RehearsalReport(
            policyName: "new.yaml", oldPolicyName: nil, comparison: comparison,
            input: .evidence(
                name: "lines", counts: InputCounts(), badLines: nil,
                anonymousIDs: [.init(id: "placeholder", accounts: 12)]), tally: tally)
        let json = String(decoding: report.json(.compact), as: UTF8.self)
        let parts = [
            #"{"policy":"new.yaml","against":null,"at":"2016-01-01T00:00:00Z","partial":false,"verdict":{"#,
            #""rejectedArtifactsByReason":{},"anonymousIDs":[{"accounts":12}]},"#,
            #""customers":{"total":40,"heldByPromise":0,"contradicting":\#(tally.contradicting)},"#,
        ]
        for part in parts { #expect(json.contains(part), "\(part)") }
        for name in ["problem", "rejectedFile", "gains", "losing", "losses", "transitions", "id", "before"] {
            #expect(!json.contains("\"\(name)\":"), "\(name)")
        }
        #expect(!json.contains("placeholder"))
    }

    @Test func `a rehearsal page counts rejected lines only if there are any`() throws {
        func card(rejecting rejected: Int) throws -> String? {
            String(decoding: HTMLReport.bytes(of: try report(rejecting: rejected)), as: UTF8.self)
                .components(separatedBy: "<div class=\"card \">").last { $0.contains("rejected, whole") }?
                .components(separatedBy: "</div>").first
        }
        #expect(try card(rejecting: 0) == nil)
        #expect(try card(rejecting: 1) == "<b>1</b><span>line was rejected, whole or in part</span>")
        #expect(try card(rejecting: 2) == "<b>2</b><span>lines were rejected, whole or in part</span>")
    }
}
