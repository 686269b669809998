import TenureCore
package import TenureJSON
import TenurePolicyFile
import TenurePolicyLint

/// The report of a rehearsal (a dry run of a policy over real customers) as JSON, for programs.
extension RehearsalReport {
    /// Returns the whole report as JSON. `Docs/rehearsal.md` describes the fields.
    package func json(_ layout: JSONWriter.Layout = .readable) -> [UInt8] {
        var writer = JSONWriter(layout, capacity: 1 << 16)
        write(to: &writer)
        return Array(String(decoding: writer.bytes, as: UTF8.self).escapedJSONForDisplay.utf8)
    }

    /// Writes the report as one JSON object.
    func write(to writer: inout JSONWriter) {
        let names = names
        writer.object { writer in
            writer.field("policy", policyName)
            writer.field("against", orNull: oldPolicyName)
            writer.field("at", comparison.instant.rfc3339)
            writer.field("partial", isPartial)
            writer.field("problem", ifPresent: problem?.description)
            let headline = headline
            writer.object("verdict") {
                $0.field("level", headline.level.rawValue)
                $0.field("sentence", headline.sentence)
            }
            writer.field("failures", failures) { writer, failure in
                writer.object {
                    $0.field("code", failure.code)
                    $0.field("detail", failure.sentence)
                }
            }
            writer.object("input") { writeMembers(of: input, to: &$0) }
            writer.object("customers") {
                $0.field("total", tally.customers)
                if comparison.old != nil {
                    $0.field("gaining", tally.gaining)
                    $0.field("losing", tally.losing)
                    $0.field("losingWithPromises", tally.losingWithPromises)
                    $0.field("changed", tally.changed)
                    $0.field("changingReason", tally.changingReason)
                    $0.field("unchanged", unchanged)
                }
                $0.field("heldByPromise", tally.heldByPromise)
                $0.field("contradicting", tally.contradicting)
            }
            writer.field("productsWithoutEntitlement", tally.productsWithoutEntitlement)
            writer.field("entitlements", entitlements) { write($1.name, $1.tally, names, to: &$0) }
            writer.field("places", tally.cells.sorted) { writer, cell in
                writer.object {
                    $0.field("platform", cell.place.platformName)
                    $0.field("version", cell.place.version.description)
                    $0.field("month", cell.place.month.description)
                    for (name, counts) in zip(tally.entitlements, cell.counts) {
                        $0.object(name) { writeMembers(of: counts, to: &$0) }
                    }
                }
            }
            writer.field("conditions", measurements) { writer, measurement in
                writer.object {
                    $0.field("condition", measurement.condition)
                    $0.field("value", measurement.value)
                    $0.field("entitlement", ifPresent: measurement.entitlement)
                    $0.field("fails", measurement.fails)
                }
            }
            writer.field("findings", findings) { writer, finding in
                writer.object {
                    $0.field("code", finding.code)
                    $0.field("severity", finding.severity.rawValue)
                    $0.field("file", finding.position.file)
                    $0.field("line", finding.position.line)
                    $0.field("column", finding.position.column)
                    $0.field("message", finding.message)
                    $0.field("fix", ifPresent: finding.fix)
                }
            }
        }
    }

    /// Writes where the customers come from.
    private func writeMembers(of input: Input, to writer: inout JSONWriter) {
        switch input {
        case .evidence(let name, let counts, let badLines, let anonymousIDs):
            writer.field("evidence", name)
            writer.field("lines", counts.lines)
            writer.field("blankLines", counts.blankLines)
            writer.field("usableLines", counts.usableLines)
            writer.field("repeatedLines", counts.usableLines - tally.customers)
            writer.field("rejectedLines", counts.rejectedLineCount)
            writer.field("linesWithRejections", counts.linesWithRejections)
            writer.field("rejectedLinesByReason", counts.rejectedLines)
            writer.field("rejectedArtifactsByReason", counts.rejectedArtifacts)
            writer.field("rejectedFile", ifPresent: badLines)
            writer.field("anonymousIDs", anonymousIDs) { writer, anonymous in
                writer.object {
                    if showsIDs { $0.field("id", anonymous.id) }
                    $0.field("accounts", anonymous.accounts)
                }
            }
        case .database(let name, let skipped):
            writer.field("database", name)
            writer.field("skipped", skipped)
        }
    }

    /// Writes the counts and examples of one entitlement.
    private func write(_ name: String, _ tally: EntitlementTally, _ names: ExampleNames, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("name", name)
            writeMembers(of: tally.counts, to: &writer)
            writer.field("reasons", tally.sortedReasons) { writer, entry in
                writer.object {
                    writeMembers(of: entry.key, to: &$0)
                    $0.field("count", entry.count)
                }
            }
            if comparison.old != nil {
                writer.field("transitions", tally.sortedTransitions) { writer, entry in
                    writer.object {
                        $0.field("change", entry.key.change.rawValue)
                        $0.object("before") { writeMembers(of: entry.key.before, to: &$0) }
                        $0.object("now") { writeMembers(of: entry.key.now, to: &$0) }
                        $0.field("count", entry.count)
                    }
                }
                writer.field("losses", tally.sortedLosses) { writer, entry in
                    writer.object { writer in
                        writer.field("platform", entry.cause.platform?.rawValue ?? "none")
                        writer.object("before") { writeMembers(of: entry.cause.before, to: &$0) }
                        writer.object("now") { writeMembers(of: entry.cause.now, to: &$0) }
                        if entry.cause.isOfRemovedProduct {
                            writer.field("removedProducts", entry.group.removedProducts.sorted())
                        }
                        writer.field("count", entry.group.count)
                        if let versions = entry.group.versions {
                            writer.field("lowestVersion", versions.lowest.description)
                            writer.field("highestVersion", versions.highest.description)
                        }
                        if let months = entry.group.months {
                            writer.field("firstMonth", months.lowerBound.description)
                            writer.field("lastMonth", months.upperBound.description)
                        }
                        writer.field("examples", entry.group.examples.all) { write($1, names, to: &$0) }
                    }
                }
            }
            writer.object("examples") { writer in
                for kind in ExampleClass.all {
                    guard let examples = tally.examples[kind] else { continue }
                    writer.field(kind.name, examples.all) { write($1, names, to: &$0) }
                }
            }
        }
    }

    /// Writes an outcome with its deciding reason.
    private func writeMembers(of answer: Answer, to writer: inout JSONWriter) {
        writer.field("outcome", answer.outcome.rawValue)
        writer.field("reason", answer.reason.name)
    }

    /// Writes an example customer: how the customer got the app, and the answers under both policies.
    private func write(_ example: Example, _ names: ExampleNames, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("customer", names[example])
            writer.field("platform", ifPresent: example.platform?.rawValue)
            writer.field("originalAppVersion", ifPresent: example.originalAppVersion)
            if let date = example.originalPurchaseDate {
                // Unless the report identifies customers, write only the day: the exact time could identify one.
                writer.field("originalPurchaseDate", showsIDs ? date.rfc3339 : CivilDay(of: date).description)
            }
            for (name, answer) in [("before", example.before), ("now", example.now)] {
                guard let answer else { continue }
                writer.object(name) {
                    writeMembers(of: answer, to: &$0)
                    $0.field("until", ifPresent: answer.until?.rfc3339)
                }
            }
        }
    }

    /// Writes the counts as fields of the JSON object that the caller has begun.
    private func writeMembers(of counts: Counts, to writer: inout JSONWriter) {
        for outcome in Decision.Outcome.allCases { writer.field(outcome.rawValue, counts[outcome]) }
        guard comparison.old != nil else { return }
        for change in Change.allCases { writer.field(change.rawValue, counts[change]) }
    }
}
