import Foundation
import TenureCore
import TenurePolicyFile
import TenurePolicyLint

/// The report as one page that needs nothing else: to read, to print, and to send to somebody who has never heard of
/// eras.
package struct HTMLReport {
    private let report: RehearsalReport
    private let names: ExampleNames
    private var page = HTMLText()

    package static func bytes(of report: RehearsalReport) -> [UInt8] {
        var page = HTMLReport(report)
        page.write()
        return Array(page.page.text.utf8)
    }

    private init(_ report: RehearsalReport) {
        self.report = report
        names = report.names
    }

    private var customers: Int { report.tally.customers }
    private var isCompared: Bool { report.comparison.old != nil }

    private mutating func write() {
        page.markup("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")
        page.markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
        page.markup(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">")
        page.element("title", "Rehearsal of \(report.shortPolicyName)")
        page.markup("<style>\n\(PageStyle.css)\n</style>\n</head>\n<body>")
        writeHead()
        writeCards()
        for index in report.tally.entitlements.indices {
            writeEntitlement(report.tally.entitlements[index], report.tally.byEntitlement[index], at: index)
        }
        for (name, tally) in report.tally.promisedOnly.sorted(by: { $0.key < $1.key }) {
            writeEntitlement(name, tally, at: nil)
        }
        if isCompared { writeLosses() }
        writeFindings()
        writeInput()
        page.markup("<footer>")
        page.element(
            "p",
            "Counted by Tenure from what the App Store signed. A customer is one acquisition of the app by one account. "
                + (report.identifies
                    ? "Customers are called by their ids: this page is not for everybody."
                    : "Customers are numbered, and their numbers tell nothing."))
        page.markup("</footer>\n</body>\n</html>")
    }

    private mutating func writeHead() {
        page.element("h1", "Rehearsal of \(report.shortPolicyName)")
        let against = report.shortOldPolicyName.map { "compared with \($0), " } ?? ""
        page.element(
            "p", class: "soft",
            "What the policy does to \(customers.grouped("customer")) of \(report.comparison.new.app.bundleID), \(against)as of \(report.comparison.instant.rfc3339)."
        )
        if report.isPartial {
            let why = report.problem.map { "\($0)" } ?? "it was stopped before the end"
            page.element("p", class: "partial", "This is a part of the population only: \(why).")
        }
        for verdict in report.verdicts where verdict.fails {
            page.element("p", class: "partial", "Fails: \(verdict.condition).")
        }
    }

    private mutating func writeCards() {
        page.markup("<div class=\"cards\">")
        card(customers.grouped, "customers")
        if isCompared {
            card(report.tally.losing.grouped, "lose something", style: report.tally.losing > 0 ? "alarm" : "good")
            card(report.tally.gaining.grouped, "gain something")
            card(report.unchanged.grouped, "entirely as before")
        }
        for (name, tally) in report.entitlements.prefix(4) {
            card(tally.counts.granted.share(of: customers), "have \(name)")
        }
        if report.tally.heldByPromise > 0 {
            card(report.tally.heldByPromise.grouped, "keep something by a promise")
        }
        if case .evidence(_, let counts, _) = report.input, counts.rejectedLineCount > 0 {
            card(counts.rejectedLineCount.grouped, "lines that count for nothing")
        }
        let grave = report.findings.unacknowledged(.warning).count
        if grave > 0 { card(grave.grouped, "findings of the linter", style: "alarm") }
        page.markup("</div>")
    }

    private mutating func card(_ number: String, _ text: String, style: String = "") {
        page.markup(
            "<div class=\"card \(style)\"><b>\(number.htmlEscaped)</b><span>\(text.htmlEscaped)</span></div>")
    }

    private static let outcomes: [Decision.Outcome] = [.granted, .undetermined, .denied]

    private mutating func writeEntitlement(_ name: String, _ tally: EntitlementTally, at index: Int?) {
        page.element("h2", name)
        if customers > 0 {
            page.markup("<div class=\"bar\">")
            for outcome in Self.outcomes where tally.counts[outcome] > 0 {
                let share = Double(tally.counts[outcome]) / Double(customers) * 100
                page.markup(
                    "<i class=\"\(outcome.rawValue)\" style=\"width:\(share.svg)%\" title=\"\(outcome.rawValue) \(tally.counts[outcome].grouped)\"></i>"
                )
            }
            page.markup("</div>")
        }
        page.markup("<div class=\"legend\">")
        for outcome in Self.outcomes {
            let count = tally.counts[outcome]
            page.markup(
                "<span><i class=\"\(outcome.rawValue)\"></i>\(outcome.rawValue) \(count.grouped) (\(count.share(of: customers).htmlEscaped))</span>"
            )
        }
        page.markup("</div>")
        if let index { writeCharts(at: index) }
        writeReasons(tally)
        if isCompared { writeTransitions(tally) }
    }

    private mutating func writeCharts(at index: Int) {
        if let chart = HistogramChart(report, entitlement: index) {
            page.element("h3", "By month of purchase")
            page.markup("<div class=\"scroll\">\(chart.svg)</div>")
            page.markup("<div class=\"legend\"><span><u></u>an era begins</span>")
            if chart.hasChangeover { page.markup("<span><i class=\"changeover\"></i>changeover window</span>") }
            page.markup("</div>")
            if !chart.remarks.isEmpty { page.element("p", class: "soft", chart.remarks) }
        }
        if let chart = ChangeChart(report, entitlement: index) {
            page.element("h3", "Who gains and who loses, by month of purchase")
            page.markup("<div class=\"scroll\">\(chart.svg)</div>")
            page.markup(
                "<div class=\"legend\"><span><i class=\"gains\"></i>gain</span><span><i class=\"loses\"></i>lose</span></div>"
            )
        }
        let maps = HeatMap.all(report, entitlement: index).prefix(3)
        guard !maps.isEmpty else { return }
        page.element("h3", "By version and month of purchase")
        for map in maps {
            page.element("p", class: "soft caption", "\(map.name): \(map.customers.grouped("customer"))")
            page.markup("<div class=\"scroll\">\(map.svg)</div>")
            if !map.remark.isEmpty { page.element("p", class: "soft", map.remark) }
        }
        page.markup("<div class=\"legend\">")
        for (style, text) in [
            ("granted", "all have it"), ("mostlyGranted", "most have it"), ("mostlyDenied", "some have it"),
            ("denied", "nobody has it"), ("undetermined", "mostly not determined"),
        ] { page.markup("<span><i class=\"\(style)\"></i>\(text)</span>") }
        page.markup("<span>the fuller the color, the more customers</span></div>")
    }

    private mutating func writeReasons(_ tally: EntitlementTally) {
        page.element("h3", "Why")
        page.markup(
            "<div class=\"scroll\"><table><thead><tr><th class=\"number\">customers</th><th class=\"number\">share</th><th>answer</th><th>reason</th></tr></thead><tbody>"
        )
        for (key, count) in tally.sortedReasons {
            page.markup(
                "<tr><td class=\"number\">\(count.grouped)</td><td class=\"number\">\(count.share(of: customers).htmlEscaped)</td><td>\(tag(key.outcome.rawValue))</td><td>\(key.reason.phrase.htmlEscaped) <code class=\"soft\">\(key.reason.name.htmlEscaped)</code></td></tr>"
            )
        }
        page.markup("</tbody></table></div>")
    }

    private mutating func writeTransitions(_ tally: EntitlementTally) {
        page.element("h3", "What changes")
        guard !tally.transitions.isEmpty else {
            page.element("p", "Nothing: every customer has the same answer for the same reason.")
            return
        }
        page.markup(
            "<div class=\"scroll\"><table><thead><tr><th class=\"number\">customers</th><th></th><th>before</th><th>now</th></tr></thead><tbody>"
        )
        for (key, count) in tally.sortedTransitions {
            page.markup(
                "<tr><td class=\"number\">\(count.grouped)</td><td>\(tag(key.change.phrase, style: key.change.rawValue))</td><td>\(answer(key.before))</td><td>\(answer(key.now))</td></tr>"
            )
        }
        page.markup("</tbody></table></div>")
    }

    private func answer(_ answer: EntitlementTally.OutcomeReason) -> String {
        "\(tag(answer.outcome.rawValue)) \(answer.reason.phrase.htmlEscaped)"
    }

    private func tag(_ text: String, style: String? = nil) -> String {
        "<span class=\"tag \(style ?? text)\">\(text.htmlEscaped)</span>"
    }

    private mutating func writeLosses() {
        page.element("h2", "Who loses")
        guard report.tally.losing > 0 else {
            page.element("p", "Nobody loses anything.")
            return
        }
        page.element(
            "p",
            "\(report.tally.losing.grouped) customers had a right under \(report.shortOldPolicyName ?? "the policy before") that they do not have, or not for as long, under \(report.shortPolicyName)."
        )
        for (name, tally) in report.entitlements {
            guard let losses = tally.examples[.change(.loses)], !losses.all.isEmpty else { continue }
            page.element("h3", name)
            page.markup(
                "<div class=\"scroll\"><table><thead><tr><th>customer</th><th>platform</th><th>version</th><th>bought</th><th>before</th><th>now</th></tr></thead><tbody>"
            )
            for example in losses.all {
                let cells = [
                    names[example], example.platform?.rawValue ?? "–", example.originalAppVersion ?? "–",
                    example.originalPurchaseDate.map { CivilDay(of: $0).description } ?? "–",
                    example.before.map(words) ?? "", words(example.now),
                ]
                let columns = cells.enumerated().map { index, cell in
                    "<td\(index < 4 ? " class=\"tight\"" : "")>\(cell.htmlEscaped)</td>"
                }
                page.markup("<tr>" + columns.joined() + "</tr>")
            }
            page.markup("</tbody></table></div>")
            let more = tally.counts.loses - losses.all.count
            if more > 0 {
                page.element(
                    "p", class: "soft", "And \(more.grouped) more; these are chosen by chance, and always the same.")
            }
        }
    }

    private func words(_ answer: Answer) -> String {
        let until = answer.until.map { " until \(CivilDay(of: $0))" } ?? ""
        return "\(answer.outcome.rawValue)\(until): \(answer.reason.phrase)"
    }

    private mutating func writeFindings() {
        page.element("h2", "What the linter says of the policy")
        guard !report.findings.isEmpty else {
            page.element("p", "Nothing: no rule finds anything in it.")
            return
        }
        for finding in report.findings {
            page.markup(
                "<div class=\"finding\"><p>\(tag(finding.severity.rawValue)) <code class=\"soft\">\("\(finding.position.file):\(finding.position.line)".htmlEscaped) \(finding.code.htmlEscaped)</code><br>\(finding.message.htmlEscaped)</p>"
            )
            if let fix = finding.fix { page.element("p", class: "soft", "To do: \(fix)") }
            page.markup("</div>")
        }
    }

    private mutating func writeInput() {
        page.element("h2", "Where the numbers come from")
        switch report.input {
        case .record(let name, let passedOver):
            page.element("p", "The record of a service: \(name), \(customers.grouped("customer")).")
            if passedOver > 0 {
                page.element(
                    "p", class: "soft", "\(passedOver.grouped) customers of test environments were passed over.")
            }
        case .evidence(let name, let counts, let badLines):
            page.element(
                "p",
                "\(name): \(counts.lines.grouped("line")), of which \(counts.usableLines.grouped) speak of \(customers.grouped("customer")), \(counts.rejectedLineCount.grouped) count for nothing, and \(counts.blankLines.grouped) are blank."
            )
            writeRejections(counts.rejectedLines, "Lines that count for nothing")
            writeRejections(counts.rejectedArtifacts, "Artifacts that count for nothing, beside others that do")
            if let badLines { page.element("p", class: "soft", "Each with its line number: \(badLines)") }
        }
    }

    private mutating func writeRejections(_ numbers: [String: Int], _ title: String) {
        guard !numbers.isEmpty else { return }
        page.element("h3", title)
        page.markup("<div class=\"scroll\"><table><tbody>")
        for (code, count) in numbers.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            page.markup(
                "<tr><td class=\"number\">\(count.grouped)</td><td><code>\(code.htmlEscaped)</code></td><td>\(LineFault.phrase(of: code).htmlEscaped)</td></tr>"
            )
        }
        page.markup("</tbody></table></div>")
    }
}
