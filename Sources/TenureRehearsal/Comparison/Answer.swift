package import Foundation
package import TenureCore

/// The parts of a decision that a rehearsal counts.
package struct Answer: Sendable, Hashable {
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

    /// Whether only a promise grants the right.
    var isPromised: Bool { outcome == .granted && reason == .promise }
}

extension Reason.Code? {
    /// The code in reports; `notInPolicy` for nil.
    package var name: String { self?.rawValue ?? "notInPolicy" }
}
