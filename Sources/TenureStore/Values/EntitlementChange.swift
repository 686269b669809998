package import Foundation

/// What webhooks report about a customer's entitlements after an update, in the transaction that saves the update.
package enum EntitlementChange: Sendable, Hashable {
    /// The update didn't compare the entitlements with what webhooks last reported. A service with webhooks does that
    /// soon.
    case later
    /// Webhooks never report anything about this customer, because it is unbound (`DatabaseTransaction`).
    case never
    /// Webhooks send these messages. `SentEntitlements` are all entitlements as webhooks have reported them after that.
    /// `nextComparison` is when to compare again; nil if only a change of the customer requires that.
    case reported([Message], SentEntitlements, nextComparison: Date?)

    /// The messages to send; empty for `later` and `never`.
    var messages: [Message] {
        if case .reported(let messages, _, _) = self { messages } else { [] }
    }

    /// The entitlements as webhooks have reported them after the messages; nil for `later` and `never`.
    var sentEntitlements: SentEntitlements? {
        if case .reported(_, let sent, _) = self { sent } else { nil }
    }

    /// The value of the column `next_comparison`, if there are endpoints.
    func nextComparison(at now: Date) -> SQLValue {
        switch self {
        case .later: SQLValue(now.millisecondsSince1970)
        case .never: .null
        case .reported(_, _, let next): SQLValue(next?.millisecondsSince1970)
        }
    }
}
