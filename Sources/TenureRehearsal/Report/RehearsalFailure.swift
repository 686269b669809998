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
                    ? "check that the file has artifacts of this app, one customer per line, and pass `--trust` for those signed by a test authority"
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
            let (lines, total) = (counts.linesWithRejections, counts.writtenLines)
            if Double(lines) / Double(total) * 100 > allowedRejected {
                failures.append(.tooManyRejected(lines: lines, of: total, allowedPercent: allowedRejected))
            }
        }
        return failures + measurements.filter(\.fails).map(RehearsalFailure.condition)
    }
}
