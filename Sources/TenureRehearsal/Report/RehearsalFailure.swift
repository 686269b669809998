/// Why a rehearsal (a dry run of a policy over real customers) fails. `tenure rehearse` then exits with 2.
package enum RehearsalFailure: Sendable, Hashable {
    /// There is no customer, so the numbers prove nothing.
    case noCustomers
    /// More lines of the evidence file have a rejected artifact than `--allow-rejected` allows: `lines` of all lines
    /// that aren't blank.
    case tooManyRejected(lines: Int, of: Int, allowedPercent: Double)
    /// A condition of `--fail-if` holds.
    case condition(FailCondition.Measurement)

    /// The name in the JSON report, which never changes.
    var code: String {
        switch self {
        case .noCustomers: "noCustomers"
        case .tooManyRejected: "tooManyRejected"
        case .condition: "condition"
        }
    }

    /// The problem and its fix, as text in all reports.
    var sentence: String {
        switch self {
        case .noCustomers:
            "no customer was rehearsed; pass evidence or a database with customers of this app"
        case .tooManyRejected(let lines, let total, let allowed):
            "\(lines.grouped) of \(total.grouped("line")) (\(lines.share(of: total))) \(lines == 1 ? "has" : "have") a rejected artifact, "
                + "and at most \(allowed.percent) may have one; "
                + (lines == total
                    ? "check that the file has artifacts of this app, one customer per line, and pass `--trust` for those of a test authority"
                    : "correct or remove these lines, or pass a higher percentage with `--allow-rejected`")
        case .condition(let measurement):
            "the condition `\(measurement.condition)` of --fail-if is met: the value is \(measurement.textWithEntitlement)"
        }
    }
}

extension RehearsalReport {
    /// The default of `--allow-rejected`: the percentage of lines that may have a rejected artifact.
    package static let defaultAllowedRejected = 5.0

    /// Every reason for which the rehearsal fails; empty if it passes.
    package var failures: [RehearsalFailure] {
        var failures: [RehearsalFailure] = []
        if tally.customers == 0 { failures.append(.noCustomers) }
        if case .evidence(_, let counts, _, _) = input, counts.writtenLines > 0 {
            let percent = Double(counts.linesWithRejections) / Double(counts.writtenLines) * 100
            if percent > allowedRejected {
                failures.append(
                    .tooManyRejected(
                        lines: counts.linesWithRejections, of: counts.writtenLines, allowedPercent: allowedRejected))
            }
        }
        return failures + measurements.filter(\.fails).map(RehearsalFailure.condition)
    }
}

extension FailCondition.Measurement {
    /// The measured value as text, such as `12` or `3.2%`.
    var text: String { isPercentage ? value.percent : Int(value).grouped }

    /// The measured value as text, with its entitlement if it has one, such as ``3.2% for `cloud` ``.
    var textWithEntitlement: String { text + (entitlement.map { " for `\($0)`" } ?? "") }
}

extension Double {
    /// The percentage as text, such as `5%` or `3.25%`. A small percentage above zero isn't rounded to 0.
    package var percent: String {
        let bounded = Swift.min(Swift.max(self, 0), 1e9)
        return bounded > 0 && bounded < 0.005 ? "<0.01%" : "\(bounded.withTwoDecimals)%"
    }
}
