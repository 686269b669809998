import Foundation
import TenureCore

/// How replacing the old policy by the new one affects one customer's right to one entitlement.
package struct Effect: Sendable, Hashable {
    /// The name of the entitlement.
    package let entitlement: String
    /// The answer under the new policy.
    package let now: Answer
    /// The answer under the old policy; nil if there is no old policy.
    package let before: Answer?
    /// The ID of the product that granted a lost right, if the new policy no longer lists it for the entitlement;
    /// otherwise nil.
    var removedProduct: String?

    /// The difference between `before` and `now`; nil if there is no old policy.
    package var change: Change? { before.map { Change(from: $0, to: now) } }
}

/// How the answer under the new policy differs from the answer under the old policy. A right that becomes undetermined
/// is lost.
package enum Change: String, Sendable, Hashable, CaseIterable {
    /// Granted now and not before, or granted for longer.
    case gains
    /// Granted before and not now, or not for as long.
    case loses
    /// Denied instead of undetermined, or the reverse. This is neither a gain nor a loss.
    case changesOutcome
    /// The same outcome for another reason.
    case changesReason
    /// The same outcome, end and reason.
    case same

    init(from before: Answer, to now: Answer) {
        switch (before.outcome == .granted, now.outcome == .granted) {
        case (false, true): self = .gains
        case (true, false): self = .loses
        case (true, true) where before.until != now.until:
            self = (now.until ?? .distantFuture) > (before.until ?? .distantFuture) ? .gains : .loses
        default: self = before.outcome != now.outcome ? .changesOutcome : before == now ? .same : .changesReason
        }
    }

    /// Whether the outcome or the end of the right differs. False if only the reason differs.
    var isOfOutcome: Bool {
        switch self {
        case .gains, .loses, .changesOutcome: true
        case .changesReason, .same: false
        }
    }
}
