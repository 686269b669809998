import Foundation
import TenureAppStore
import TenureCore
import TenureJSON
import Testing

@testable import TenureRehearsal

/// Whole reports about a few customers who are counted by hand.
struct WholeReportTests {
    private static let owner = Answer(.granted, reason: .eraHonored)
    private static let newcomer = Answer(.denied, reason: .eraNotHonored)
    private static let doubtful = Answer(.undetermined, reason: .inDoubt)

    /// What a customer has before and after the change, and what else the report counts about the customer.
    private struct Customer {
        let id: String
        var platform: Platform? = .iOS
        var version: String?
        var bought: String?
        let before: Answer?
        let now: Answer
        var keptByPromise: Answer?
        var removedProduct: String?
        var contradicts = false
        var unlisted: [String] = []

        func count(in tally: inout Tally, exportedID: String? = nil) {
            let proof = AppProof(
                kind: .appTransaction, signedDate: Population.now, id: .appTransaction(id), originalPlatform: platform,
                originalAppVersion: version, originalPurchaseDate: bought.map(Population.date))
            let effect = Effect(entitlement: "everything", now: now, before: before, removedProduct: removedProduct)
            let kept = Effect(entitlement: "everything", now: keptByPromise ?? now, before: before)
            tally.add(
                RehearsedCustomer(
                    id: id, exportedID: exportedID,
                    Evidence(environment: .production, app: [proof], purchasesAreComplete: true)),
                CustomerEffects(
                    ifPromisesEnd: [effect], ifPromisesAreKept: [kept], hasContradictingProofs: contradicts,
                    productsWithoutEntitlement: unlisted))
        }
    }

    private static func comparison() throws -> Comparison {
        Comparison(
            of: try Population.policy(freeFrom: "100"), against: try Population.policy(freeFrom: "120"),
            at: Population.now)
    }

    private static func fault(_ code: Rejection.Code, part: String? = nil) -> LineFault {
        LineFault(.rejected(code), "detail", part: part)
    }

    /// Twelve customers with every kind of change, and 18 lines.
    private func report(
        showsIDs: Bool = true, conditions: [String] = ["lost>=4", "everything.denied>70%"]
    ) throws -> RehearsalReport {
        var customers = ["ben", "ada", "cleo"].map {
            Customer(id: $0, version: "110", bought: "2015-03-10", before: Self.owner, now: Self.newcomer)
        }
        customers += ["eve", "finn"].map {
            Customer(
                id: $0, platform: .macOS, version: "1.5", bought: "2014-08-10", before: Self.newcomer, now: Self.owner)
        }
        customers.append(
            Customer(id: "dan", platform: nil, before: Self.owner, now: Self.doubtful, keptByPromise: Self.owner))
        customers += ["1", "2", "3", "4"].map {
            Customer(
                id: $0, version: "150", bought: "2015-07-10", before: Self.newcomer, now: Self.newcomer,
                unlisted: ["com.example.old"])
        }
        customers.append(
            Customer(
                id: "gil", version: "90", bought: "2014-05-10", before: Self.owner,
                now: Answer(.granted, reason: .promise)))
        customers.append(
            Customer(
                id: "hal", version: "90", bought: "2014-05-10", before: Self.newcomer, now: Self.doubtful,
                contradicts: true))
        let comparison = try Self.comparison()
        var tally = Tally(entitlements: ["everything"])
        for customer in customers { customer.count(in: &tally) }
        var counts = InputCounts()
        for _ in 0..<13 { counts.add(line: [], isUsable: true) }
        counts.add(line: [Self.fault(.badSignature, part: "transactions[0]")], isUsable: true)
        counts.add(line: [LineFault(.invalidJSON, "it ends early")], isUsable: false)
        for _ in 0..<2 { counts.add(line: [Self.fault(.wrongApp)], isUsable: false) }
        counts.addBlankLine()
        return RehearsalReport(
            policyName: "new.yaml", oldPolicyName: "old.yaml", comparison: comparison,
            input: .evidence(name: "lines", counts: counts, badLines: "bad.ndjson", anonymousIDs: []), tally: tally,
            showsIDs: showsIDs,
            conditions: try conditions.map { try FailCondition($0, of: comparison) },
            allowedRejected: 25)
    }

    @Test func `the terminal report of a rehearsal has every count, reason, change, example and place in order`() throws
    {
        let expected: [TextReport.Line] = [
            .bad(
                "Do not ship: 4 customers (3 of them of build 110 on iOS) would lose `everything`; 4 of 17 lines (23.5%) were rejected, whole or in part."
            ),
            .heading("new.yaml against old.yaml, as of January 1, 2016"),
            .plain("lines: 18 lines, 14 of them from 12 customers, 3 rejected, 1 blank"),
            .plain("  rejected lines: wrongApp 2, invalidJSON 1"),
            .plain("  rejected artifacts in lines that were used without them: badSignature 1"),
            .faint("  the rejected lines with their numbers: bad.ndjson"),
            .heading("everything"),
            .good("  granted                  3  25.0%"),
            .faint("               2  eraHonored: got the app in an honored era"),
            .faint("               1  promise: it was promised before"),
            .bad("  denied                   7  58.3%"),
            .faint("               7  eraNotHonored: got the app in an era that isn't honored"),
            .plain("  undetermined             2  16.7%"),
            .faint(
                "               2  inDoubt: can't tell whether an honored era applies, so `inDoubt` in the policy decides"
            ),
            .bad("  lose                     4  33.3%"),
            .faint("               3  from granted (eraHonored) to denied (eraNotHonored)"),
            .faint("               1  from granted (eraHonored) to undetermined (inDoubt)"),
            .faint("      such as ben (iOS, build 110, March 10, 2015): denied, eraNotHonored"),
            .faint("      such as ada (iOS, build 110, March 10, 2015): denied, eraNotHonored"),
            .faint("      such as cleo (iOS, build 110, March 10, 2015): denied, eraNotHonored"),
            .faint("      such as dan (no version, no date): undetermined, inDoubt"),
            .plain("  gain                     2  16.7%"),
            .faint("               2  from denied (eraNotHonored) to granted (eraHonored)"),
            .faint("      such as finn (macOS, version 1.5, August 10, 2014): granted, eraHonored"),
            .faint("      such as eve (macOS, version 1.5, August 10, 2014): granted, eraHonored"),
            .plain("  other outcome            1  8.33%"),
            .faint("               1  from denied (eraNotHonored) to undetermined (inDoubt)"),
            .faint("      such as hal (iOS, build 90, May 10, 2014): undetermined, inDoubt"),
            .plain("  other reason             1  8.33%"),
            .faint("               1  from granted (eraHonored) to granted (promise)"),
            .faint("      such as gil (iOS, build 90, May 10, 2014): granted, promise"),
            .heading("customers"),
            .plain(
                "  4 would lose something, 2 would gain something, 7 would have another outcome in all, 1 only another reason, 4 no change"
            ),
            .plain("  1 of the losing customers would lose nothing if promises are kept"),
            .plain("  1 has something only because of a promise"),
            .plain(
                "  1 customer (8.33%) has contradicting proofs: the version and the purchase date prove different eras"),
            .plain("  4 customers have bought `com.example.old`, which no entitlement lists"),
            .heading("platform, version and month of purchase, and `everything`"),
            .faint("  platform  version      month            granted       denied undetermined"),
            .plain("  iOS       150          2015-07                0            4            0"),
            .plain("  iOS       110          2015-03                0            3            0"),
            .plain("  iOS       90           2014-05                1            0            1"),
            .plain("  macOS     1.5          2014-08                2            0            0"),
            .plain("  unknown   none         unknown                0            0            1"),
            .bad("fails: the condition `lost>=4` of --fail-if is met: the value is 4"),
            .good("passes: `everything.denied>70%` isn't met: the value is 58.33% for `everything`"),
        ]
        let lines = TextReport(try report()).lines
        for (line, text) in zip(lines, expected) { #expect(line == text) }
        #expect(lines.count == expected.count)
    }

    @Test(
        arguments: [
            ("lost>0", 4, nil), ("loses>0", 4, nil), ("gained>0", 2, nil), ("gains>0", 2, nil), ("changed>0", 7, nil),
            ("contradicting>0", 1, nil), ("rejected>0", 4, nil), ("changesOutcome>0", 1, "everything"),
            ("changesReason>0", 1, "everything"), ("granted>0", 3, "everything"), ("denied>0", 7, "everything"),
            ("undetermined>0", 2, "everything"), ("inDoubt>0", 2, "everything"), ("promise>0", 1, "everything"),
            ("everything.changed>0", 7, "everything"), ("lost > 0 %", 400.0 / 12, nil),
            ("rejected>0%", 400.0 / 17, nil), ("everything.denied>0%", 700.0 / 12, "everything"),
        ] as [(String, Double, String?)])
    func `each measure of --fail-if has its own number`(condition: String, value: Double, entitlement: String?) throws {
        let measurements = try report(conditions: [condition]).measurements
        let measurement = try #require(measurements.first)
        #expect(abs(measurement.value - value) < 1e-9 && measurement.entitlement == entitlement)
        #expect(measurement.fails)
    }

    @Test func `without --identify, the terminal report of a rehearsal numbers its examples`() throws {
        let examples = TextReport(try report(showsIDs: false)).lines.compactMap { line -> Substring? in
            guard case .faint(let text) = line, text.hasPrefix("      such as ") else { return nil }
            return text.dropFirst(14).prefix { $0 != "(" }
        }
        // The numbers have the order of the hashes, and include examples that the terminal doesn't show.
        #expect(
            examples == [
                "customer 1 ", "customer 4 ", "customer 5 ", "customer 7 ", "customer 10 ", "customer 11 ",
                "customer 8 ", "customer 12 ",
            ])
    }

    @Test func `the terminal report of a rehearsal shows five examples and twelve places, and counts the other places`()
        throws
    {
        let policy = try Population.policy(freeFrom: "100")
        var tally = Tally(entitlements: ["everything"])
        for number in 1...14 {
            Customer(
                id: "\(number)", version: "\(number)", bought: "2014-05-10", before: nil, now: Self.newcomer
            ).count(in: &tally)
        }
        let report = RehearsalReport(
            policyName: "new.yaml", oldPolicyName: nil, comparison: Comparison(of: policy, at: Population.now),
            input: .database(name: "database", skipped: 3), tally: tally, showsIDs: true)
        let lines = TextReport(report).lines
        #expect(
            Array(lines.prefix(4)) == [
                .heading(
                    "Of 14 customers, 0.00% have `everything`; no customer has `everything`, although it honors an era."
                ),
                .heading("new.yaml, as of January 1, 2016"),
                .plain(
                    "database: 14 customers, 3 skipped (from another environment, or signed by a test authority that --trust doesn't name)"
                ),
                .heading("everything"),
            ])
        let examples = ["6", "13", "2", "4", "5"].map { id in
            TextReport.Line.faint("      such as \(id) (iOS, build \(id), May 10, 2014): denied, eraNotHonored")
        }
        #expect(lines.filter { "\($0)".contains("such as") } == examples)
        let places = (1...12).map { build in
            let spaces = String(repeating: " ", count: build < 10 ? 12 : 11)
            return TextReport.Line.plain(
                "  iOS       \(build)\(spaces)2014-05                0            1            0")
        }
        #expect(Array(lines.suffix(13)) == places + [.faint("  and 2 more; --json has them all")])
    }

    @Test func `a rehearsal says if its file is empty, and counts skipped customers only if there are any`()
        throws
    {
        func lines(_ input: RehearsalReport.Input) throws -> [TextReport.Line] {
            TextReport(
                RehearsalReport(
                    policyName: "new.yaml", oldPolicyName: nil,
                    comparison: Comparison(of: try Population.policy(freeFrom: "100"), at: Population.now),
                    input: input, tally: Tally(entitlements: ["everything"]))
            ).lines
        }
        let empty = try lines(.evidence(name: "lines", counts: InputCounts(), badLines: nil, anonymousIDs: []))
        #expect(
            Array(empty.prefix(3)) == [
                .bad("No verdict: no customer was rehearsed."), .heading("new.yaml, as of January 1, 2016"),
                .plain("lines is empty"),
            ])
        #expect(
            empty.last
                == .bad(
                    "fails: no customer was rehearsed; pass evidence or a database with customers of this app"))
        #expect(try lines(.database(name: "database", skipped: 0)).contains(.plain("database: 0 customers")))
    }

    @Test func `the JSON report of a rehearsal has every field in its documented place`() throws {
        let comparison = try Self.comparison()
        var tally = Tally(entitlements: ["everything"])
        Customer(
            id: "appTransactionID 1", version: "110", bought: "2015-03-10T12:30:00Z",
            before: Answer(.granted, until: Population.date("2016-06-01"), reason: .product), now: Self.newcomer,
            keptByPromise: Self.owner, removedProduct: "yearly", contradicts: true, unlisted: ["yearly"]
        ).count(in: &tally, exportedID: "ada")
        var counts = InputCounts()
        counts.add(line: [], isUsable: true)
        counts.add(line: [Self.fault(.wrongApp)], isUsable: false)
        counts.addBlankLine()
        let report = RehearsalReport(
            policyName: "new.yaml", oldPolicyName: "old.yaml", comparison: comparison,
            input: .evidence(
                name: "lines", counts: counts, badLines: "bad.ndjson",
                anonymousIDs: [.init(id: "none", accounts: 12)]),
            tally: tally, isPartial: true, problem: .damagedArchive, showsIDs: true,
            conditions: [try FailCondition("everything.lost>0", of: comparison)])
        let answers =
            #""before":{"outcome":"granted","reason":"product"},"now":{"outcome":"denied","reason":"eraNotHonored"}"#
        let example =
            #"{"customer":"ada","platform":"iOS","originalAppVersion":"110","originalPurchaseDate":"2015-03-10T12:30:00Z","#
            + #""before":{"outcome":"granted","reason":"product","until":"2016-06-01T00:00:00Z"},"#
            + #""now":{"outcome":"denied","reason":"eraNotHonored"}}"#
        let numbers =
            #""granted":0,"denied":1,"undetermined":0,"gains":0,"loses":1,"changesOutcome":0,"changesReason":0,"same":0"#
        let expected: [String] = [
            #"{"policy":"new.yaml","against":"old.yaml","at":"2016-01-01T00:00:00Z","partial":true,"#,
            #""problem":"the compressed file is damaged or incomplete, so only the lines before the damage were counted; export it again","#,
            #""verdict":{"level":"stop","sentence":"No verdict: the input couldn't be read to its end; 1 of 2 lines (50.0%) was rejected, whole or in part."},"#,
            #""failures":[{"code":"tooManyRejected","detail":"1 of 2 lines (50.0%) has a rejected artifact, and at most 5% may have one; correct or remove these lines, or pass a higher percentage with `--allow-rejected`"},"#,
            #"{"code":"condition","detail":"the condition `everything.lost>0` of --fail-if is met: the value is 1 for `everything`"}],"#,
            #""input":{"evidence":"lines","lines":3,"blankLines":1,"usableLines":1,"repeatedLines":0,"rejectedLines":1,"#,
            #""linesWithRejections":1,"rejectedLinesByReason":{"wrongApp":1},"rejectedArtifactsByReason":{},"#,
            #""rejectedFile":"bad.ndjson","anonymousIDs":[{"id":"none","accounts":12}]},"#,
            #""customers":{"total":1,"gaining":0,"losing":1,"losingWithPromises":0,"changed":1,"changingReason":0,"#,
            #""unchanged":0,"heldByPromise":0,"contradicting":1},"productsWithoutEntitlement":{"yearly":1},"#,
            #""entitlements":[{"name":"everything",\#(numbers),"reasons":[{"outcome":"denied","reason":"eraNotHonored","count":1}],"#,
            #""transitions":[{"change":"loses",\#(answers),"count":1}],"losses":[{"platform":"iOS",\#(answers),"#,
            #""removedProducts":["yearly"],"count":1,"lowestVersion":"110","highestVersion":"110","#,
            #""firstMonth":"2015-03","lastMonth":"2015-03","examples":[\#(example)]}],"#,
            #""examples":{"loses":[\#(example)],"denied":[\#(example)]}}],"#,
            #""places":[{"platform":"iOS","version":"110","month":"2015-03","everything":{\#(numbers)}}],"#,
            #""conditions":[{"condition":"everything.lost>0","value":1.0,"entitlement":"everything","fails":true}],"#,
            #""findings":[]}"#,
        ]
        #expect(String(decoding: report.json(.compact), as: UTF8.self) == expected.joined())
    }

    @Test func `a rehearsal page shows the counts, reasons, changes and rejections of an entitlement`() throws {
        let page = String(decoding: HTMLReport.bytes(of: try report()), as: UTF8.self)
        let bar =
            "title=\"keeps it 1, gains it 2, can’t be determined 1, doesn’t have it 4, loses it 4\">"
            + "<i class=\"granted\" style=\"width:8.33%\"></i><i class=\"gains\" style=\"width:16.67%\"></i>"
            + "<i class=\"undetermined\" style=\"width:8.33%\"></i><i class=\"denied\" style=\"width:33.33%\"></i>"
            + "<i class=\"loses\" style=\"width:33.33%\"></i></span>"
        let rejections =
            "<h3>Rejected lines</h3>\n<table class=\"rejections\"><tbody>\n"
            + "<tr><td class=\"number\">2</td><td>of another app <span class=\"soft\">wrongApp</span></td></tr>\n"
            + "<tr><td class=\"number\">1</td><td>invalid JSON <span class=\"soft\">invalidJSON</span></td></tr>"
        let parts: [String] = [
            bar, rejections,
            "<div class=\"card \"><b>1</b><span>has something only because of a promise</span></div>",
            "<div class=\"card \"><b>1</b><span>has contradicting proofs</span></div>",
            "<div class=\"card \"><b>4</b><span>lines were rejected, whole or in part</span></div>",
            "<p class=\"note\">All customers: 7 with another outcome, 1 with only another reason, 4 without any change.</p>",
            "<p class=\"remark\">4 customers have bought <code>com.example.old</code>, which no entitlement lists.</p>",
            // Three of the seven denied customers lose the entitlement, and so does one of the two undetermined ones.
            "<i class=\"granted\"></i>keeps it <b>1</b> (8.33%)</span>",
            "<i class=\"gains\"></i>gains it <b>2</b> (16.7%)</span>",
            "<i class=\"undetermined\"></i>can’t be determined <b>1</b> (8.33%)</span>",
            "<i class=\"denied\"></i>doesn’t have it <b>4</b> (33.3%)</span>",
            "<i class=\"loses\"></i>loses it <b>4</b> (33.3%)</span>",
            "<td class=\"number\">7</td><td class=\"number\">58.3%</td><td>denied: got the app in an era that isn&#39;t honored <span class=\"soft\">(3 of them lose it)</span></td>",
            "<li><b>1</b> has another outcome. Before: denied, got the app in an era that isn&#39;t honored. Now: can’t be determined, can&#39;t tell",
            "<li><b>1</b> has another reason. Before: granted, got the app in an honored era. Now: granted, it was promised before.</li>",
            "<p><b>customer on an unknown platform</b></p>\n<p>loses <code>everything</code>.",
            "<p>lines has 18 lines: 14 from 12 customers, 3 rejected, and 1 blank.</p>",
            "<h3>Rejected artifacts in lines that were used without them</h3>",
            "<p class=\"soft\">bad.ndjson lists them with their line numbers.</p>",
            "Customers appear under their IDs: share this page only with people who may know them.",
            "No rule of <code>tenure policy check</code> found anything.",
            "<p class=\"alert\"><b>Failed:</b> the condition <code>lost&gt;=4</code> of --fail-if is met: the value is 4.</p>",
        ]
        for part in parts { #expect(page.contains(part), "\(part)") }
        let numbered = String(decoding: HTMLReport.bytes(of: try report(showsIDs: false)), as: UTF8.self)
        #expect(numbered.contains("Customers are numbered, and the numbers don’t identify them."))
    }
}
