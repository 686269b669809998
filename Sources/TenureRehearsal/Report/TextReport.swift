import Foundation
import TenureCore
import TenurePolicyLint

/// The report of a rehearsal (a dry run of a policy over real customers) for a terminal, as lines with a style.
package struct TextReport: Sendable {
    /// A line, with the style in which a terminal shows it.
    package enum Line: Sendable, Hashable {
        case heading(String)
        case plain(String)
        case good(String)
        case bad(String)
        case faint(String)
    }

    package private(set) var lines: [Line] = []
    private let report: RehearsalReport
    private let names: ExampleNames
    /// The maximum number of rows in the table by platform, version and month.
    private static let maximumPlaces = 12
    /// The maximum number of example customers for each outcome or change.
    private static let maximumExamples = 5

    package init(_ report: RehearsalReport) {
        self.report = report
        names = report.names
        let headline = report.headline
        switch headline.level {
        case .stop: lines.append(.bad(headline.sentence))
        case .check: lines.append(.heading(headline.sentence))
        case .go: lines.append(.good(headline.sentence))
        }
        addInput()
        for (name, tally) in report.entitlements { add(name, tally) }
        addChanges()
        addPlaces()
        addFindings()
        for failure in report.failures { lines.append(.bad("fails: \(failure.sentence)")) }
        for measurement in report.measurements where !measurement.fails {
            lines.append(
                .good("passes: `\(measurement.condition)` isn't met: the value is \(measurement.textWithEntitlement)"))
        }
    }

    /// Adds the linter's findings about the policy.
    private mutating func addFindings() {
        guard !report.findings.isEmpty else { return }
        lines.append(.heading("policy check"))
        for finding in report.findings {
            let isBad = finding.severity == .error && !finding.isAcknowledged
            lines.append(isBad ? .bad("  \(finding)") : .plain("  \(finding)"))
        }
    }

    /// Adds what was compared, where the customers come from, and which lines were rejected.
    private mutating func addInput() {
        let against = report.oldPolicyName.map { " against \($0)" } ?? ""
        lines.append(.heading("\(report.policyName)\(against), as of \(report.comparison.instant.readable)"))
        if report.isPartial {
            let why = report.problem.map { ": \($0)" } ?? ": it was stopped"
            lines.append(.bad("PARTIAL\(why). The report contains the results up to this point"))
        }
        let customers = report.tally.customers
        switch report.input {
        case .evidence(let name, let counts, let badLines, let anonymousIDs):
            let numbers =
                "\(counts.lines.grouped("line")), \(counts.usableLines.grouped) of them from \(customers.grouped("customer")), \(counts.rejectedLineCount.grouped) rejected, \(counts.blankLines.grouped) blank"
            let isEmpty = counts.lines == 0 && !report.isPartial
            lines.append(.plain(isEmpty ? "\(name) is empty" : "\(name): \(numbers)"))
            add(counts.rejectedLines, as: "rejected lines")
            add(counts.rejectedArtifacts, as: "rejected artifacts in lines that were used without them")
            if let badLines { lines.append(.faint("  the rejected lines with their numbers: \(badLines)")) }
            if !anonymousIDs.isEmpty { lines.append(.plain("  " + report.remark(on: anonymousIDs))) }
        case .database(let name, let skipped):
            let skippedCustomers =
                skipped > 0
                ? ", \(skipped.grouped) skipped (from another environment, or signed by a test authority that --trust doesn't name)"
                : ""
            lines.append(.plain("\(name): \(customers.grouped("customer"))\(skippedCustomers)"))
        }
    }

    /// Adds a line of counts by reason, the most frequent first, such as `rejected lines: badSignature 12, wrongApp 3`.
    private mutating func add(_ numbers: [String: Int], as title: String) {
        guard !numbers.isEmpty else { return }
        let sorted = numbers.sorted(byCount: \.value, then: \.key)
        lines.append(.plain("  \(title): " + sorted.map { "\($0.key) \($0.value.grouped)" }.joined(separator: ", ")))
    }

    /// Adds the outcomes of an entitlement with their reasons, then the changes with examples.
    private mutating func add(_ name: String, _ tally: EntitlementTally) {
        lines.append(.heading(name))
        for outcome in Decision.Outcome.allCases {
            let count = tally.counts[outcome]
            let text = "  \(outcome.rawValue.padded(13)) \(count.grouped.padded(left: 12))  \(share(count))"
            lines.append(outcome == .granted ? .good(text) : outcome == .denied ? .bad(text) : .plain(text))
            for (key, count) in tally.sortedReasons where key.outcome == outcome {
                lines.append(.faint("    \(count.grouped.padded(left: 12))  \(key.reason.name): \(key.reason.phrase)"))
            }
        }
        guard report.comparison.old != nil else {
            addExamples([.outcome(.denied), .outcome(.undetermined)], of: tally)
            return
        }
        for change in Change.inReports {
            let count = tally.counts[change]
            let text = "  \(change.phrase.padded(13)) \(count.grouped.padded(left: 12))  \(share(count))"
            lines.append(change == .loses && count > 0 ? .bad(text) : .plain(text))
            for (key, count) in tally.sortedTransitions where key.change == change {
                let before = "\(key.before.outcome) (\(key.before.reason.name))"
                let now = "\(key.now.outcome) (\(key.now.reason.name))"
                lines.append(.faint("    \(count.grouped.padded(left: 12))  from \(before) to \(now)"))
            }
            if change == .loses { addRemovedProducts(tally) }
            addExamples([.change(change)], of: tally)
        }
    }

    /// Adds how many customers lose the entitlement because the policy no longer lists a product.
    private mutating func addRemovedProducts(_ tally: EntitlementTally) {
        let groups = tally.losses.values.filter { !$0.removedProducts.isEmpty }
        guard !groups.isEmpty else { return }
        let count = groups.reduce(0) { $0 + $1.count }
        let products = groups.reduce(into: Set<String>()) { $0.formUnion($1.removedProducts) }
        lines.append(.faint("    \(count.grouped.padded(left: 12))  of them because \(products.removal)"))
    }

    /// Adds a line for some customers of each of these classes.
    private mutating func addExamples(_ kinds: [ExampleClass], of tally: EntitlementTally) {
        for kind in kinds {
            for example in (tally.examples[kind]?.all ?? []).prefix(Self.maximumExamples) {
                lines.append(.faint("      such as \(describe(example))"))
            }
        }
    }

    /// Returns a customer's name, version and purchase date, and the outcome under the new policy.
    private func describe(_ example: Example) -> String {
        var facts: [String] = []
        if let platform = example.platform { facts.append(platform.rawValue) }
        let noun = example.platform?.versionKey.rawValue ?? "version"
        facts.append(example.originalAppVersion.map { "\(noun) \($0)" } ?? "no \(noun)")
        facts.append(example.originalPurchaseDate.map { CivilDay(of: $0).inWords } ?? "no date")
        return "\(names[example]) (\(facts.joined(separator: ", "))): \(example.now.outcome), \(example.now.reasonName)"
    }

    /// Adds how many customers gain or lose something or have another reason, and the remarks.
    private mutating func addChanges() {
        let tally = report.tally
        if report.comparison.old != nil {
            lines.append(.heading("customers"))
            let numbers =
                "  \(tally.losing.grouped) would lose something, \(tally.gaining.grouped) would gain something, \(tally.changed.grouped) would have another outcome in all, \(tally.changingReason.grouped) only another reason, \(report.unchanged.grouped) no change"
            lines.append(.plain(numbers))
            if tally.losing > tally.losingWithPromises {
                let promised = tally.losing - tally.losingWithPromises
                lines.append(
                    .plain("  \(promised.grouped) of the losing customers would lose nothing if promises are kept"))
            }
        }
        if tally.heldByPromise > 0 {
            let verb = tally.heldByPromise == 1 ? "has" : "have"
            lines.append(.plain("  \(tally.heldByPromise.grouped) \(verb) something only because of a promise"))
        }
        for remark in report.remarks { lines.append(.plain("  " + remark)) }
    }

    /// Adds a table of the customers by platform, version and month, with the outcomes of the first entitlement.
    private mutating func addPlaces() {
        let cells = report.tally.cells.sorted
        guard let name = report.tally.entitlements.first, !cells.isEmpty else { return }
        lines.append(.heading("platform, version and month of purchase, and `\(name)`"))
        lines.append(.faint("  platform  version      month            granted       denied undetermined"))
        for cell in cells.prefix(Self.maximumPlaces) {
            let counts = cell.counts.first ?? Counts()
            let numbers = Decision.Outcome.allCases.map { counts[$0].grouped.padded(left: 12) }.joined(separator: " ")
            let place =
                "  \(cell.place.platformName.padded(9)) \(cell.place.version.description.padded(12)) \(cell.place.month.description.padded(11))"
            lines.append(.plain("\(place) \(numbers)"))
        }
        if cells.count > Self.maximumPlaces {
            lines.append(.faint("  and \((cells.count - Self.maximumPlaces).grouped) more; --json has them all"))
        }
    }

    /// Returns the percentage of all customers.
    private func share(_ count: Int) -> String { count.share(of: report.tally.customers) }
}

extension Int {
    /// The number with commas, such as `1,234,567`.
    package var grouped: String { formatted(.number.locale(Locale(identifier: "en_US"))) }

    /// Returns the number with its noun, such as `1 line` or `1,024 lines`.
    package func grouped(_ noun: String) -> String { "\(grouped) \(noun)\(self == 1 ? "" : "s")" }

    /// Returns the number as a percentage of `total`, such as `12.3%`. Only 0 is shown as 0%, and only `total` as 100%.
    func share(of total: Int) -> String {
        guard total > 0 else { return "0%" }
        let percent = Double(self) / Double(total) * 100
        if self > 0, percent < 0.01 { return "<0.01%" }
        if self < total, percent > 99.99 { return ">99.99%" }
        // With one decimal, 99.95 would be rounded to 100.0.
        let needsTwoDecimals = percent < 9.995 || (self < total && percent > 99.9)
        return String(format: needsTwoDecimals ? "%.2f%%" : "%.1f%%", percent)
    }
}

extension String {
    /// Returns the text with blanks after it.
    fileprivate func padded(_ width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }

    /// Returns the text with blanks before it.
    fileprivate func padded(left width: Int) -> String {
        String(repeating: " ", count: Swift.max(0, width - count)) + self
    }
}
