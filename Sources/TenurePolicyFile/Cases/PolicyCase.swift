package import Foundation
package import TenureCore
import TenureJSON

/// One policy case, which tests a policy: a customer's evidence, and the decisions that the policy should make.
package struct PolicyCase: Sendable {
    /// The name of the case in results.
    package let name: String
    /// The position of the case in the file, such as `cases.yaml:12:5`.
    let position: String
    /// The tested policy: the policy file, with the changes that the file of cases and the case itself make.
    package let policy: Policy
    /// Rights that an earlier policy gave to the customer, and that this policy can't take away.
    package let promises: [Promise]
    /// The date for which the decisions are made.
    package let now: Date
    let expectations: [Expectation]
    let artifacts: Artifacts

    /// What the artifacts prove about the customer. The decisions are made from this evidence.
    package var evidence: Evidence { artifacts.evidence }

    /// The expected decision on one entitlement.
    package struct Expectation: Sendable {
        /// The name of the entitlement in the policy.
        package let entitlement: String
        /// Whether the entitlement should be granted, denied or undetermined.
        let outcome: Decision.Outcome
        /// When the entitlement should end; nil if it should be permanent.
        package var until: Date?
        /// Reason codes that the decision must have. It may also have others.
        var reasons: [String] = []
        /// Reason codes that the decision must not have.
        var notReasons: [String] = []
        /// The exact next steps of an undetermined decision; nil if the case doesn't check the next steps.
        var nextSteps: [NextStep]?
        /// Texts that the decision's sentence for the customer must contain.
        var sentence: [String] = []
        /// Texts that the sentence must not contain.
        var notSentence: [String] = []

        /// Returns a line for each expectation that the decision doesn't meet.
        func differences(from decision: Decision) -> [String] {
            var differences: [String] = []
            func expect(_ expectation: String, butGot fact: String) {
                differences.append("\(entitlement): expected \(expectation), got \(fact)")
            }
            let codes = decision.reasons.map(\.code)
            let because = "(\(codes.joined(separator: ", ")))"
            if decision.outcome != outcome {
                expect(outcome.rawValue, butGot: "\(decision.outcome.rawValue) \(because): \(decision.sentence)")
            } else if decision.until != until {
                func words(_ date: Date?) -> String { date.map { "until \($0.rfc3339)" } ?? "permanently" }
                expect("\(outcome.rawValue) \(words(until))", butGot: "\(words(decision.until)) \(because)")
            }
            for code in reasons where !codes.contains(code) { expect("the reason `\(code)`", butGot: because) }
            for code in notReasons where codes.contains(code) { expect("no reason `\(code)`", butGot: because) }
            if let nextSteps, Set(nextSteps) != Set(decision.nextSteps) {
                func words(_ steps: [NextStep]) -> String {
                    steps.isEmpty ? "no next steps" : "the next steps \(steps.map(\.rawValue).joined(separator: ", "))"
                }
                expect(words(nextSteps), butGot: words(decision.nextSteps))
            }
            for text in sentence where !decision.sentence.contains(text) {
                expect("a sentence with “\(text)”", butGot: "“\(decision.sentence)”")
            }
            for text in notSentence where decision.sentence.contains(text) {
                expect("a sentence without “\(text)”", butGot: "“\(decision.sentence)”")
            }
            return differences
        }
    }

    /// The artifacts of a customer, in the order in which they are received.
    struct Artifacts: Sendable {
        var environment: AppStoreEnvironment = .production
        var app: [AppProof] = []
        var transactions: [Purchase] = []
        var renewals: [Renewal] = []
        /// Whether the transactions are all that the customer has.
        var purchasesAreComplete = true
        /// The entitlements that support granted or revoked.
        var support: [SupportGrant] = []
        /// The test customer that a sandbox build plays (a persona); nil for a real customer.
        var persona: Persona?

        var evidence: Evidence {
            Evidence(
                environment: environment, app: app, transactions: transactions, renewals: renewals,
                purchasesAreComplete: purchasesAreComplete, support: support, persona: persona)
        }

        /// The same artifacts in other orders: rotated so that each artifact is the first once, and each rotation also
        /// reversed. Empty if there is only one order. A decision must not depend on the order.
        var otherOrders: [Artifacts] {
            let longest = max(app.count, transactions.count, renewals.count, support.count)
            guard longest > 1 else { return [] }
            let orders = [false, true].flatMap { isReversed in (0..<longest).map { (start: $0, isReversed: isReversed) }
            }
            // The first order is the order of these artifacts.
            return orders.dropFirst().map { start, isReversed in
                func reordered<Element>(_ elements: [Element]) -> [Element] {
                    guard !elements.isEmpty else { return elements }
                    let start = start % elements.count
                    let rotated = Array(elements[start...] + elements[..<start])
                    return isReversed ? rotated.reversed() : rotated
                }
                var result = self
                result.app = reordered(app)
                result.transactions = reordered(transactions)
                result.renewals = reordered(renewals)
                result.support = reordered(support)
                return result
            }
        }
    }
}
