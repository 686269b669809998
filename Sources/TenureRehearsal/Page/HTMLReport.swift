import TenureCore
import TenurePolicyFile
import TenurePolicyLint

/// The report of a rehearsal (a dry run of a policy over real customers) as one self-contained HTML page, also for
/// readers who don't know Tenure.
package struct HTMLReport {
    let report: RehearsalReport
    /// The names of example customers.
    let names: ExampleNames
    /// The HTML that was written so far. Untrusted text is escaped when it is added, and only then.
    private(set) var text = ""

    /// Returns the page in UTF-8.
    package static func bytes(of report: RehearsalReport) -> [UInt8] {
        var page = HTMLReport(report: report, names: report.names)
        page.write()
        return Array(page.text.utf8)
    }

    /// Adds markup unchanged. Pass only constant or escaped text.
    mutating func markup(_ more: String) { text += more + "\n" }

    /// Adds an element such as `<p class="note">…</p>` with this text, which is escaped.
    mutating func element(_ name: String, class style: String? = nil, _ content: String) {
        let attribute = style.map { " class=\"\($0)\"" } ?? ""
        markup("<\(name)\(attribute)>\(content.htmlEscaped)</\(name)>")
    }

    /// The number of all customers.
    var customers: Int { report.tally.customers }
    /// Whether there is an old policy, so that the page shows who gains and who loses.
    var isCompared: Bool { report.comparison.old != nil }

    /// Writes the whole page.
    private mutating func write() {
        markup("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")
        markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
        markup(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">")
        element("title", "Rehearsal of \(report.shortPolicyName)")
        markup("<style>\n\(PageStyle.css)\n</style>\n</head>\n<body>")
        writeHead()
        if customers > 0 {
            writeCards()
            if isCompared { writeLosses() }
            writeEntitlements()
        }
        writeFindings()
        writeInput()
        markup("<footer>")
        element(
            "p",
            "Counted by Tenure from artifacts that the App Store signed. "
                + (report.showsIDs
                    ? "Customers appear under their IDs: share this page only with people who may know them."
                    : "Customers are numbered, and the numbers don’t identify them."))
        markup("</footer>\n</body>\n</html>")
    }

    /// Writes the verdict in one sentence, what was compared, and why the rehearsal fails.
    private mutating func writeHead() {
        let headline = report.headline
        markup("<header class=\"verdict \(headline.level.rawValue)\">")
        markup("<h1>\(headline.sentence.htmlWithCode)</h1>")
        markup("</header>")
        let against = report.shortOldPolicyName.map { " compared with \($0)" } ?? ""
        element(
            "p", class: "soft",
            "Rehearsal of \(report.shortPolicyName)\(against), for \(customers.grouped("customer")) of \(report.comparison.new.app.bundleID), as of \(report.comparison.instant.readable)."
        )
        if let problem = report.problem { element("p", class: "alert", "Only part of the input was read: \(problem).") }
        for failure in report.failures {
            markup("<p class=\"alert\"><b>Failed:</b> \(failure.sentence.htmlWithCode).</p>")
        }
    }

    /// Writes the totals as large numbers, then the remarks.
    private mutating func writeCards() {
        let tally = report.tally
        markup("<div class=\"cards\">")
        card(customers, customers == 1 ? "customer" : "customers")
        if isCompared {
            card(tally.losing, "would lose something", style: tally.losing > 0 ? "loses" : "")
            if tally.losing > tally.losingWithPromises {
                card(
                    tally.losing - tally.losingWithPromises,
                    "of the losing customers would lose nothing if promises are kept")
            }
            card(tally.gaining, "would gain something", style: tally.gaining > 0 ? "gains" : "")
            card(report.unchanged, "would see no change at all")
        }
        func have(_ count: Int) -> String { count == 1 ? "has" : "have" }
        if tally.heldByPromise > 0 {
            card(tally.heldByPromise, "\(have(tally.heldByPromise)) something only because of a promise")
        }
        if tally.contradicting > 0 { card(tally.contradicting, "\(have(tally.contradicting)) contradicting proofs") }
        if case .evidence(_, let counts, _, _) = report.input, counts.linesWithRejections > 0 {
            card(
                counts.linesWithRejections,
                "\(counts.linesWithRejections == 1 ? "line was" : "lines were") rejected, whole or in part")
        }
        markup("</div>")
        if isCompared, report.unchanged < customers {
            // A customer may both lose and gain, so the numbers above needn't add up.
            element(
                "p", class: "note",
                "All customers: \(tally.changed.grouped) with another outcome, \(tally.changingReason.grouped) with only another reason, \(report.unchanged.grouped) without any change."
            )
        }
        for remark in report.remarks { markup("<p class=\"remark\">\(remark.htmlWithCode).</p>") }
    }

    /// Writes a large number with its meaning below it.
    ///
    /// - Parameter style: a CSS class for the color of the number.
    private mutating func card(_ number: Int, _ text: String, style: String = "") {
        markup("<div class=\"card \(style)\"><b>\(number.grouped)</b><span>\(text.htmlEscaped)</span></div>")
    }

    /// Writes the linter's findings about the policy, the most severe first. Shows the first few errors and warnings,
    /// and collapses all other findings.
    private mutating func writeFindings() {
        element("h2", "What the policy check found")
        guard !report.findings.isEmpty else {
            markup("<p>No rule of <code>tenure policy check</code> found anything.</p>")
            return
        }
        let sorted = report.findings.sorted { $0.severity > $1.severity }
        let open = Array(sorted.unacknowledged(.warning).prefix(Self.maximumFindings))
        for finding in open { write(finding) }
        let rest = sorted.filter { !open.contains($0) }
        guard !rest.isEmpty else { return }
        markup("<details><summary>\(rest.count.grouped(open.isEmpty ? "finding" : "more finding"))</summary>")
        for finding in rest { write(finding) }
        markup("</details>")
    }

    /// The maximum number of findings that aren't collapsed.
    private static let maximumFindings = 6

    /// Writes one finding of the linter, with its position in the policy and its fix.
    private mutating func write(_ finding: LintFinding) {
        let place = "\(finding.position.file.shortFileName):\(finding.position.line)"
        markup(
            "<div class=\"finding\"><p><b class=\"severity \(finding.isAcknowledged ? "note" : finding.severity.rawValue)\">\(finding.severityInWords)</b> \(finding.message.withWrittenDates.htmlWithCode) <span class=\"soft\">\("\(place), \(finding.code)".htmlEscaped)</span></p>"
        )
        if let fix = finding.fix { markup("<p class=\"soft\">To do: \(fix.withWrittenDates.htmlWithCode)</p>") }
        markup("</div>")
    }

    /// Writes where the customers come from, and which lines were rejected.
    private mutating func writeInput() {
        element("h2", "Where the numbers come from")
        switch report.input {
        case .database(let name, let skipped):
            element("p", "The database of a service, \(name.shortFileName), with \(customers.grouped("customer")).")
            if skipped > 0 {
                element(
                    "p", class: "soft",
                    "Not counted: \(skipped.grouped("customer")) from another environment or a test authority.")
            }
        case .evidence(let name, let counts, let badLines, let anonymousIDs):
            let numbers =
                "\(name.shortFileName) has \(counts.lines.grouped("line")): \(counts.usableLines.grouped) from \(customers.grouped("customer")), \(counts.rejectedLineCount.grouped) rejected, and \(counts.blankLines.grouped) blank."
            let isEmpty = counts.lines == 0 && !report.isPartial
            element("p", isEmpty ? "\(name.shortFileName) is empty." : numbers)
            if !anonymousIDs.isEmpty { markup("<p>\(report.remark(on: anonymousIDs).htmlWithCode).</p>") }
            writeRejections(counts.rejectedLines, "Rejected lines")
            writeRejections(counts.rejectedArtifacts, "Rejected artifacts in lines that were used without them")
            if let badLines {
                element("p", class: "soft", "\(badLines.shortFileName) lists them with their line numbers.")
            }
        }
    }

    /// Writes a table with the number of rejected lines or artifacts for each reason code.
    private mutating func writeRejections(_ numbers: [String: Int], _ title: String) {
        guard !numbers.isEmpty else { return }
        element("h3", title)
        markup("<table class=\"rejections\"><tbody>")
        for (code, count) in numbers.sorted(byCount: \.value, then: \.key) {
            markup(
                "<tr><td class=\"number\">\(count.grouped)</td><td>\(LineFault.phrase(of: code).htmlEscaped) <span class=\"soft\">\(code.htmlEscaped)</span></td></tr>"
            )
        }
        markup("</tbody></table>")
    }
}

extension String {
    /// The file name without its folder.
    var shortFileName: String { split(separator: "/").last.map(String.init) ?? self }
}
