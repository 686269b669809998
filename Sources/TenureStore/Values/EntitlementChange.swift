package import Foundation
package import TenureCore

/// What webhooks report about a customer's entitlements after an update, in the transaction that saves the update.
package enum EntitlementChange: Sendable, Hashable {
    /// The update didn't compare the entitlements with what webhooks last reported. A service with webhooks does that
    /// soon.
    case later
    /// Webhooks never report anything about this customer, because it is unbound (`DatabaseTransaction`).
    case never
    /// Webhooks send these messages. Afterward, `SentEntitlements` are all entitlements that webhooks have reported.
    /// `nextComparison` is when to compare again; nil if only a change of the customer requires that.
    case reported([Message], SentEntitlements, nextComparison: Date?)

    /// The messages to send; empty for `later` and `never`.
    var messages: [Message] { if case .reported(let messages, _, _) = self { messages } else { [] } }

    /// The entitlements that webhooks have reported after the messages; nil for `later` and `never`.
    var sentEntitlements: SentEntitlements? { if case .reported(_, let sent, _) = self { sent } else { nil } }

    /// The value of the column `next_comparison`, if there are endpoints.
    func nextComparison(at now: Date) -> SQLValue {
        switch self {
        case .later: SQLValue(now)
        case .never: .null
        case .reported(_, _, let next): SQLValue(next)
        }
    }
}

/// The entitlements of one customer as webhooks last reported them.
///
/// The database stores these entitlements with the customer. After new facts, the end of an entitlement or a new
/// policy, the service compares them with the current entitlements. So webhooks report each change exactly once.
package struct SentEntitlements: Sendable, Hashable {
    /// A granted entitlement as webhooks reported it.
    package struct Right: Sendable, Hashable, Codable {
        /// Milliseconds since 1970; nil if the right is permanent.
        package var until: Int64?
        /// True if webhooks have reported that the right ends soon; otherwise nil.
        package var isExpiring: Bool?

        package init(until: Date?, isExpiring: Bool = false) {
            self.until = until?.millisecondsSince1970
            self.isExpiring = isExpiring ? true : nil
        }
    }

    /// The granted entitlements, by name.
    package var rights: [String: Right]

    package init(rights: [String: Right] = [:]) { self.rights = rights }

    /// Creates the value as if webhooks had reported these decisions.
    package init(_ decisions: [Decision]) {
        rights = [:]
        for decision in decisions where decision.outcome == .granted {
            rights[decision.entitlement] = Right(until: decision.until)
        }
    }

    /// The rights as the column `sent_entitlements` stores them. Most new customers have none, and encoding is slow.
    var json: String { rights.isEmpty ? "{}" : rights.json }
}
