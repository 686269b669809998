package import Foundation
package import TenureCore

/// What a policy decides about one entitlement of one customer: the parts of a decision that a rehearsal (a dry run of
/// a policy) counts.
package struct Answer: Sendable, Hashable {
    /// Whether the entitlement is granted, denied or undetermined.
    package let outcome: Decision.Outcome
    /// When a granted right ends; nil if it is permanent.
    package let until: Date?
    /// The deciding reason's code; nil if the policy doesn't have the entitlement.
    package let reason: Reason.Code?

    init(_ outcome: Decision.Outcome, until: Date? = nil, reason: Reason.Code?) {
        self.outcome = outcome
        self.until = until
        self.reason = reason
    }

    init(_ decision: Decision) {
        self.init(decision.outcome, until: decision.until, reason: decision.leadingReason?.codeValue)
    }

    /// The answer of a policy that doesn't have the entitlement.
    static let notInPolicy = Answer(.denied, reason: nil)

    /// The reason in reports: a code of `Reason`, or `notInPolicy`.
    package var reasonName: String { reason.name }

    /// Whether only a promise grants the right. A promise is a right that the service recorded, so that later policies
    /// can't take it.
    var isPromised: Bool { outcome == .granted && reason == .promise }
}

extension Reason.Code? {
    /// The reason in reports: its code, or `notInPolicy` if the policy doesn't have the entitlement.
    package var name: String { self?.rawValue ?? "notInPolicy" }
}
