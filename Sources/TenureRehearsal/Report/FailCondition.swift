import Foundation
import TenureCore

/// A condition of the option `--fail-if`, under which a rehearsal fails: `lost>0`, `denied>0.5%`,
/// `everything.undetermined>=100`.
package struct FailCondition: Sendable {
    /// The condition as it was written.
    let text: String
    /// The name of the entitlement before the period; nil if the condition is about all entitlements.
    private let entitlement: String?
    private let measure: Measure
    /// Compares the measured value with the limit.
    private let holds: @Sendable (_ value: Double, _ limit: Double) -> Bool
    /// The number in the condition, without the percent sign.
    private let limit: Double
    /// Whether the limit is a percentage of customers or lines, and not a number of them.
    private let isPercentage: Bool

    /// What a condition counts.
    private enum Measure: Hashable {
        /// Customers with this outcome of an entitlement under the new policy.
        case outcome(Decision.Outcome)
        /// Customers with this difference between the old and the new policy.
        case change(Change)
        /// Customers with another outcome or another end of a right, including gains and losses.
        case changed
        /// Customers with a version and a purchase date that prove different eras (periods in which the app was paid,
        /// or free).
        case contradicting
        /// Lines (not customers) of the evidence file that have a rejected artifact.
        case rejected
        /// Customers with this reason as the deciding one under the new policy.
        case reason(Reason.Code)

        /// Whether the measure exists only in a comparison with an old policy.
        var needsComparison: Bool {
            switch self {
            case .change, .changed: true
            case .outcome, .contradicting, .rejected, .reason: false
            }
        }

        /// Reads the name of a measure; nil if there is no such measure.
        init?(_ name: String) {
            switch name {
            case "lost", "loses": self = .change(.loses)
            case "gained", "gains": self = .change(.gains)
            case "changed": self = .changed
            case "changesOutcome": self = .change(.changesOutcome)
            case "changesReason": self = .change(.changesReason)
            case "contradicting": self = .contradicting
            case "rejected": self = .rejected
            default:
                if let outcome = Decision.Outcome(rawValue: name) {
                    self = .outcome(outcome)
                } else if let code = Reason.Code(rawValue: name) {
                    self = .reason(code)
                } else {
                    return nil
                }
            }
        }
    }

    /// The comparisons with the limit, by their text in a condition. The longer ones are tried first, because `>=`
    /// begins with `>`.
    private static let operators: [(text: String, holds: @Sendable (Double, Double) -> Bool)] = [
        (">=", { $0 >= $1 }), ("<=", { $0 <= $1 }), (">", { $0 > $1 }), ("<", { $0 < $1 }),
    ]

    /// The measured value of a condition.
    package struct Measurement: Sendable, Hashable {
        /// The condition as it was written.
        let condition: String
        /// The measured number, or the percentage from 0 to 100.
        let value: Double
        let isPercentage: Bool
        /// The entitlement that was measured; nil if the value isn't about a single entitlement.
        let entitlement: String?
        /// Whether the condition holds, so that the rehearsal fails.
        let fails: Bool

        /// The measured value as text, such as `12` or `3.2%`.
        var text: String { isPercentage ? value.percent : Int(value).grouped }

        /// The measured value as text, with its entitlement if it has one, such as ``3.2% for `cloud` ``.
        var textWithEntitlement: String { text + (entitlement.map { " for `\($0)`" } ?? "") }
    }

    /// Parses a condition. Throws `RehearsalError.condition` if the text is invalid, names an unknown entitlement, or
    /// needs an old policy to compare with.
    package init(_ text: String, of comparison: Comparison) throws(RehearsalError) {
        func fault(_ why: String) -> RehearsalError { .condition(text, why: why) }
        self.text = text
        let signs = Self.operators.compactMap { sign in
            text.range(of: sign.text).map { (range: $0, holds: sign.holds) }
        }
        guard let sign = signs.min(by: { $0.range.lowerBound < $1.range.lowerBound }) else {
            throw fault("write a measure, `>`, `>=`, `<` or `<=`, and a number, such as `denied>0.5%`")
        }
        holds = sign.holds
        var name = text[..<sign.range.lowerBound].trimmingCharacters(in: .whitespaces)
        var number = text[sign.range.upperBound...].trimmingCharacters(in: .whitespaces)
        isPercentage = number.hasSuffix("%")
        if isPercentage { number = number.dropLast().trimmingCharacters(in: .whitespaces) }
        guard let limit = Double(number), limit.isFinite, limit >= 0 else {
            throw fault("`\(number)` isn't a number; write one such as `0`, `100` or `0.5%`")
        }
        self.limit = limit
        // Split at the last period, because an entitlement's name may have periods.
        if let period = name.lastIndex(of: ".") {
            let entitlement = String(name[..<period])
            guard comparison.entitlements.contains(entitlement) else {
                let known = comparison.entitlements.map { "`\($0)`" }.joined(separator: ", ")
                throw fault("there is no entitlement `\(entitlement)`; write one of \(known)")
            }
            self.entitlement = entitlement
            name = String(name[name.index(after: period)...])
        } else {
            entitlement = nil
        }
        guard let measure = Measure(name) else {
            throw fault(
                "`\(name)` isn't a measure; the measures are granted, denied, undetermined, gained, lost, changed, contradicting, rejected, and each reason's code"
            )
        }
        self.measure = measure
        if measure.needsComparison, comparison.old == nil {
            throw fault("gains and losses need an earlier policy to compare with; add --against")
        }
        if measure == .rejected, entitlement != nil {
            throw fault("a line is rejected for all entitlements; write `rejected` without an entitlement")
        }
        if measure == .contradicting, entitlement != nil {
            throw fault(
                "proofs contradict each other for all entitlements; write `contradicting` without an entitlement")
        }
    }

    /// Measures the value in a report, and compares it with the limit.
    func measurement(in report: RehearsalReport) -> Measurement {
        let (tally, customers) = (report.tally, report.tally.customers)
        let entitlements = report.entitlements.filter { entitlement == nil || $0.name == entitlement }
        // Returns the measurement of the first entitlement that fails; if no entitlement fails, of the first
        // entitlement.
        func firstFailing(_ value: (EntitlementTally) -> Int) -> Measurement {
            let measurements = entitlements.map { measurement(value($0.tally), of: customers, entitlement: $0.name) }
            return measurements.first(where: \.fails) ?? measurements.first ?? measurement(0, of: 0)
        }
        switch measure {
        case .rejected:
            guard case .evidence(_, let counts, _, _) = report.input else { return measurement(0, of: 0) }
            return measurement(counts.linesWithRejections, of: counts.writtenLines)
        case .contradicting: return measurement(tally.contradicting, of: customers)
        case .changed where entitlement == nil: return measurement(tally.changed, of: customers)
        case .changed: return firstFailing { $0.counts.changed }
        case .change(.loses) where entitlement == nil: return measurement(tally.losing, of: customers)
        case .change(.gains) where entitlement == nil: return measurement(tally.gaining, of: customers)
        case .change(let change): return firstFailing { $0.counts[change] }
        case .outcome(let outcome): return firstFailing { $0.counts[outcome] }
        case .reason(let code):
            return firstFailing { counted in counted.reasons.filter { $0.key.reason == code }.values.reduce(0, +) }
        }
    }

    /// Compares a count, or its percentage of `total`, with the limit.
    private func measurement(_ count: Int, of total: Int, entitlement: String? = nil) -> Measurement {
        let value = isPercentage ? (total == 0 ? 0 : Double(count) / Double(total) * 100) : Double(count)
        return Measurement(
            condition: text, value: value, isPercentage: isPercentage, entitlement: entitlement,
            fails: holds(value, limit))
    }
}

extension Double {
    /// The percentage as text, such as `5%` or `3.25%`. A small percentage above zero isn't rounded to 0.
    package var percent: String {
        let bounded = Swift.min(Swift.max(self, 0), 1e9)
        return bounded > 0 && bounded < 0.005 ? "<0.01%" : "\(bounded.withTwoDecimals)%"
    }
}
