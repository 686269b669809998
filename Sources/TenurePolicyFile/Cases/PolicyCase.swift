package import Foundation
package import TenureCore

/// One policy case: a customer's evidence, and the expected answer.
package struct PolicyCase: Sendable {
    /// The name of the case in results.
    package let name: String
    /// The case's position: `cases.yaml:12:5`.
    let place: String
    /// The policy with the changes of the file and of the case.
    package let policy: Policy
    /// Rights that an earlier policy gave.
    package let promises: [Promise]
    /// The date of the decisions.
    package let now: Date
    let expectations: [Expectation]
    let artifacts: Artifacts

    /// The evidence of the case's artifacts.
    package var evidence: Evidence { artifacts.evidence }

    /// The expected decision on one entitlement.
    package struct Expectation: Sendable {
        /// The name of the entitlement in the policy.
        package let entitlement: String
        let outcome: Decision.Outcome
        /// When the right ends; nil if it is permanent.
        package var until: Date?
        /// Codes that must all be among the reasons.
        var reasons: [String] = []
        /// Codes that must not be among the reasons.
        var notReasons: [String] = []
        /// The exact next steps of an undetermined decision; nil if the case doesn't check the next steps.
        var nextSteps: [NextStep]?
        /// Texts that the sentence must have.
        var sentence: [String] = []
        /// Texts that the sentence must not have.
        var notSentence: [String] = []
    }

    /// The artifacts of a customer, in the order in which they are received.
    struct Artifacts: Sendable {
        var environment: AppStoreEnvironment = .production
        var app: [AppProof] = []
        var transactions: [Purchase] = []
        var renewals: [Renewal] = []
        var purchasesAreComplete = true
        var support: [SupportGrant] = []
        var persona: Persona?

        var evidence: Evidence {
            Evidence(
                environment: environment, app: app, transactions: transactions, renewals: renewals,
                purchasesAreComplete: purchasesAreComplete, support: support, persona: persona)
        }

        /// The same artifacts in other orders: with each artifact first, forward and reversed. A decision must not
        /// depend on the order.
        var otherOrders: [Artifacts] {
            func rotated<Element>(_ elements: [Element], by count: Int) -> [Element] {
                guard !elements.isEmpty else { return elements }
                let start = count % elements.count
                return Array(elements[start...] + elements[..<start])
            }
            let longest = max(app.count, transactions.count, renewals.count, support.count)
            guard longest > 1 else { return [] }
            let rotations = (0..<longest).map { count in
                var result = self
                result.app = rotated(app, by: count)
                result.transactions = rotated(transactions, by: count)
                result.renewals = rotated(renewals, by: count)
                result.support = rotated(support, by: count)
                return result
            }
            return rotations.dropFirst()
                + rotations.map { order in
                    var result = order
                    result.app.reverse()
                    result.transactions.reverse()
                    result.renewals.reverse()
                    result.support.reverse()
                    return result
                }
        }
    }
}
