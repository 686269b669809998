package import Foundation
package import TenureCore

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
