package import Foundation

/// What an act tells the world of a customer, in its own transaction.
package enum Announcement: Sendable, Hashable {
    /// Nobody has compared yet: a service with webhooks looks at the customer as soon as it can. Where nobody listens, nothing.
    case later
    /// Nobody is told of this customer.
    case never
    /// Compared: what is told, what is known outside afterwards, and when to look again (nil: only after a change).
    case told([Message], Announced, nextLook: Date?)

    var messages: [Message] {
        if case .told(let messages, _, _) = self { messages } else { [] }
    }

    var announced: Announced? {
        if case .told(_, let announced, _) = self { announced } else { nil }
    }

    /// What the column `next_end` gets.
    func look(at now: Date) -> Look {
        switch self {
        case .later: Look(isForListeners: true, value: SQLValue(now.millisecondsSince1970))
        case .never: Look(isForListeners: false, value: .null)
        case .told(_, _, let next): Look(isForListeners: false, value: SQLValue(next?.millisecondsSince1970))
        }
    }

    struct Look {
        /// Only where an endpoint is configured: without one nothing is ever due.
        let isForListeners: Bool
        let value: SQLValue

        func sql(else other: String, parameter: Int) -> String {
            let value = "CAST($\(parameter) AS BIGINT)"
            return isForListeners
                ? "CASE WHEN EXISTS (SELECT 1 FROM endpoints) THEN \(value) ELSE \(other) END" : value
        }
    }
}
