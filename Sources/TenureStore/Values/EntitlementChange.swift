package import Foundation

/// What webhooks report about a customer, in the transaction of an update.
package enum EntitlementChange: Sendable, Hashable {
    /// The entitlements weren't compared. A service with webhooks compares the customer soon.
    case later
    /// Webhooks report nothing about this customer.
    case never
    /// Webhooks report these messages. `SentEntitlements` are all entitlements as reported afterward. `nextComparison`
    /// is when to compare again; nil if only a change of the customer requires that.
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
