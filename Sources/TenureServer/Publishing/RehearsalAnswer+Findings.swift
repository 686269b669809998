import Foundation
import TenureAPI
import TenureCore
import TenureJSON
import TenurePolicyFile
import TenurePolicyLint
import TenureRehearsal

/// The report of a rehearsal, made from the rehearsal's findings.
extension RehearsalAnswer {
    /// The maximum number of examples for each kind of change in a report. The rehearsal may have collected more.
    private static let maximumExamples = 10

    /// Creates the report of a rehearsal.
    ///
    /// - Parameters:
    ///   - linted: The linter's findings in the policy.
    ///   - version: The version of the policy with which the new policy was compared.
    init(
        _ findings: PolicyRehearser.Findings, linted: [LintFinding], id: String, against version: Int64, at now: Date
    ) {
        let tally = findings.tally
        let promised = tally.promisedOnly.sorted { $0.key < $1.key }
        // The entitlements of the policies come first, then the entitlements that only a promise still gives.
        let all = Array(zip(tally.entitlements, tally.byEntitlement)) + promised.map { ($0.key, $0.value) }
        self.init(
            id: id, at: now.rfc3339, against: version, customers: tally.customers, gaining: tally.gaining,
            losing: tally.losing, losingWithPromises: tally.losingWithPromises, contradicting: tally.contradicting,
            productsWithoutEntitlement: tally.productsWithoutEntitlement.sorted { $0.key < $1.key }
                .map { Product(id: $0.key, customers: $0.value) },
            entitlements: all.map { name, tally in
                Entitlement(
                    name: name, granted: tally.counts.granted, denied: tally.counts.denied,
                    undetermined: tally.counts.undetermined, gains: tally.counts.gains, loses: tally.counts.loses,
                    gainers: Self.examples(of: .gains, in: tally), losers: Self.examples(of: .loses, in: tally))
            },
            findings: linted.map {
                Finding(
                    code: $0.code, severity: $0.severity.rawValue, message: $0.message, fix: $0.fix, at: $0.place,
                    line: $0.position.line, column: $0.position.column, blocks: $0.blocksPublication)
            })
    }

    private static func examples(of change: Change, in tally: EntitlementTally) -> [Example] {
        (tally.examples[.change(change)]?.all ?? []).prefix(maximumExamples).map { example in
            Example(
                customer: example.id, platform: example.platform?.rawValue,
                originalAppVersion: example.originalAppVersion,
                originalPurchaseDate: example.originalPurchaseDate?.rfc3339,
                before: Answer(example.before ?? example.now), now: Answer(example.now))
        }
    }

    /// The report as JSON with sorted keys, so that equal reports have equal bytes.
    var encoded: [UInt8] {
        get throws { [UInt8](try JSONEncoder.sorted.encode(self)) }
    }
}

extension RehearsalAnswer.Answer {
    fileprivate init(_ answer: TenureRehearsal.Answer) {
        self.init(outcome: answer.outcome.rawValue, reason: answer.reasonName, until: answer.until?.rfc3339)
    }
}
