package import Foundation

/// What webhooks report about a customer, in the transaction of an update.
package enum EntitlementChange: Sendable, Hashable {
    /// Not compared yet. A service with webhooks compares the customer soon; one without does nothing.
    case later
    /// Webhooks report nothing about this customer.
    case never
    /// The messages, the entitlements that webhooks know afterward, and when to compare again (nil: after a change
    /// only).
    case reported([Message], SentEntitlements, nextComparison: Date?)

    var messages: [Message] {
        if case .reported(let messages, _, _) = self { messages } else { [] }
    }

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
