import Foundation
import TenureAPI
import TenureCore
package import TenureJSON
import TenurePolicyFile
import TenurePolicyLint

extension RehearsalReport {
    /// The whole report as JSON. `Docs/rehearsal.md` describes the fields.
    package func json(_ layout: JSONWriter.Layout = .readable) -> [UInt8] {
        var writer = JSONWriter(layout, capacity: 1 << 16)
        write(to: &writer)
        return Array(String(decoding: writer.bytes, as: UTF8.self).escapedJSONForDisplay.utf8)
    }

    func write(to writer: inout JSONWriter) {
        let names = names
        writer.object { writer in
            writer.member("policy", policyName)
            writer.key("against")
            if let oldPolicyName { writer.value(oldPolicyName) } else { writer.null() }
            writer.member("at", comparison.instant.rfc3339)
            writer.member("partial", isPartial)
            if let problem { writer.member("problem", problem.description) }
            let headline = headline
            writer.key("verdict")
            writer.object {
                $0.member("level", headline.level.rawValue)
                $0.member("sentence", headline.sentence)
            }
            writer.key("failures")
            writer.array(failures) { writer, failure in
                writer.object {
                    $0.member("code", failure.code)
                    $0.member("detail", failure.sentence)
                }
            }
            writer.key("input")
            write(input, to: &writer)
            writer.key("customers")
            writer.object {
                $0.member("total", tally.customers)
                if comparison.old != nil {
                    $0.member("gaining", tally.gaining)
                    $0.member("losing", tally.losing)
                    $0.member("losingWithPromises", tally.losingWithPromises)
                    $0.member("changed", tally.changed)
                    $0.member("changingReason", tally.changingReason)
                    $0.member("unchanged", unchanged)
                }
                $0.member("heldByPromise", tally.heldByPromise)
                $0.member("contradicting", tally.contradicting)
            }
            writer.key("productsWithoutEntitlement")
            write(tally.productsWithoutEntitlement, to: &writer)
            writer.key("entitlements")
            writer.array(entitlements) { write($1.name, $1.tally, names, to: &$0) }
            writer.key("places")
            writer.array(tally.cells.sorted) { writer, cell in
                writer.object {
                    $0.member("platform", cell.place.platformName)
                    $0.member("version", cell.place.version.description)
                    $0.member("month", cell.place.month.description)
                    for (name, counts) in zip(tally.entitlements, cell.counts) {
                        $0.key(name)
                        write(counts, to: &$0)
                    }
                }
            }
            writer.key("conditions")
            writer.array(verdicts) { writer, verdict in
                writer.object {
                    $0.member("condition", verdict.condition)
                    $0.key("value")
                    $0.value(verdict.value)
                    if let entitlement = verdict.entitlement { $0.member("entitlement", entitlement) }
                    $0.member("fails", verdict.fails)
                }
            }
            writer.key("findings")
            writer.array(findings) { writer, finding in
                writer.object {
                    $0.member("code", finding.code)
                    $0.member("severity", finding.severity.rawValue)
                    $0.member("file", finding.position.file)
                    $0.member("line", finding.position.line)
                    $0.member("column", finding.position.column)
                    $0.member("message", finding.message)
                    if let fix = finding.fix { $0.member("fix", fix) }
                }
            }
        }
    }

    private func write(_ input: Input, to writer: inout JSONWriter) {
        writer.object { writer in
            switch input {
            case .evidence(let name, let counts, let badLines, let anonymousIDs):
                writer.member("evidence", name)
                writer.member("lines", counts.lines)
                writer.member("blankLines", counts.blankLines)
                writer.member("usableLines", counts.usableLines)
                writer.member("repeatedLines", counts.usableLines - tally.customers)
                writer.member("rejectedLines", counts.rejectedLineCount)
                writer.member("linesWithRejections", counts.linesWithRejections)
                writer.key("rejectedLinesByReason")
                write(counts.rejectedLines, to: &writer)
                writer.key("rejectedArtifactsByReason")
                write(counts.rejectedArtifacts, to: &writer)
                if let badLines { writer.member("rejectedFile", badLines) }
                writer.key("anonymousIDs")
                writer.array(anonymousIDs) { writer, anonymous in
                    writer.object {
                        if identifies { $0.member("id", anonymous.id) }
                        $0.member("accounts", anonymous.accounts)
                    }
                }
            case .database(let name, let skipped):
                writer.member("database", name)
                writer.member("passedOver", skipped)
            }
        }
    }

    private func write(_ numbers: [String: Int], to writer: inout JSONWriter) {
        writer.object { writer in
            for (name, count) in numbers.sorted(by: { $0.key < $1.key }) { writer.member(name, count) }
        }
    }

    private func write(
        _ name: String, _ tally: EntitlementTally, _ names: ExampleNames, to writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("name", name)
            writeMembers(of: tally.counts, to: &writer)
            writer.key("reasons")
            writer.array(tally.sortedReasons) { writer, entry in
                writer.object {
                    $0.member("outcome", entry.key.outcome.rawValue)
                    $0.member("reason", entry.key.reason.name)
                    $0.member("count", entry.count)
                }
            }
            if comparison.old != nil {
                writer.key("transitions")
                writer.array(tally.sortedTransitions) { writer, entry in
                    writer.object {
                        $0.member("change", entry.key.change.rawValue)
                        $0.key("before")
                        write(entry.key.before, to: &$0)
                        $0.key("now")
                        write(entry.key.now, to: &$0)
                        $0.member("count", entry.count)
                    }
                }
            }
            if comparison.old != nil {
                writer.key("losses")
                writer.array(tally.sortedLosses) { writer, entry in
                    writer.object { writer in
                        writer.member("platform", entry.cause.platform?.rawValue ?? "none")
                        writer.key("before")
                        write(entry.cause.before, to: &writer)
                        writer.key("now")
                        write(entry.cause.now, to: &writer)
                        writer.member("count", entry.group.count)
                        if let versions = entry.group.versions {
                            writer.member("lowestVersion", versions.lowest.description)
                            writer.member("highestVersion", versions.highest.description)
                        }
                        if let months = entry.group.months {
                            writer.member("firstMonth", months.lowerBound.description)
                            writer.member("lastMonth", months.upperBound.description)
                        }
                        writer.key("examples")
                        writer.array(entry.group.examples.all) { write($1, names, to: &$0) }
                    }
                }
            }
            writer.key("examples")
            writer.object { writer in
                for kind in ExampleClass.all {
                    guard let examples = tally.examples[kind] else { continue }
                    writer.key(kind.name)
                    writer.array(examples.all) { write($1, names, to: &$0) }
                }
            }
        }
    }

    private func write(_ answer: EntitlementTally.OutcomeReason, to writer: inout JSONWriter) {
        writer.object {
            $0.member("outcome", answer.outcome.rawValue)
            $0.member("reason", answer.reason.name)
        }
    }

    private func write(_ example: Example, _ names: ExampleNames, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("customer", names[example])
            if let platform = example.platform { writer.member("platform", platform.rawValue) }
            if let version = example.originalAppVersion { writer.member("originalAppVersion", version) }
            if let date = example.originalPurchaseDate {
                // An instant to the millisecond would identify a customer.
                writer.member("originalPurchaseDate", identifies ? date.rfc3339 : CivilDay(of: date).description)
            }
            for (name, answer) in [("before", example.before), ("now", example.now)] {
                guard let answer else { continue }
                writer.key(name)
                writer.object {
                    $0.member("outcome", answer.outcome.rawValue)
                    $0.member("reason", answer.reasonName)
                    if let until = answer.until { $0.member("until", until.rfc3339) }
                }
            }
        }
    }

    private func write(_ counts: Counts, to writer: inout JSONWriter) {
        writer.object { writeMembers(of: counts, to: &$0) }
    }

    private func writeMembers(of counts: Counts, to writer: inout JSONWriter) {
        for outcome in Decision.Outcome.allCases { writer.member(outcome.rawValue, counts[outcome]) }
        guard comparison.old != nil else { return }
        for change in Change.allCases { writer.member(change.rawValue, counts[change]) }
    }
}

extension ExampleClass {
    /// All classes, the most important first.
    static let all: [ExampleClass] =
        Change.allCases.sorted { $0.order < $1.order }.filter { $0 != .same }.map(ExampleClass.change)
        + [Decision.Outcome.denied, .undetermined, .granted].map(ExampleClass.outcome)

    var name: String {
        switch self {
        case .outcome(let outcome): outcome.rawValue
        case .change(let change): change.rawValue
        }
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, _ text: String) {
        key(name)
        value(text)
    }

    fileprivate mutating func member(_ name: String, _ number: Int) {
        key(name)
        value(number)
    }

    fileprivate mutating func member(_ name: String, _ flag: Bool) {
        key(name)
        value(flag)
    }
}
