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

    /// What the column `next_end` gets, where there is somebody to be told.
    func nextLook(at now: Date) -> SQLValue {
        switch self {
        case .later: SQLValue(now.millisecondsSince1970)
        case .never: .null
        case .told(_, _, let next): SQLValue(next?.millisecondsSince1970)
        }
    }
}
