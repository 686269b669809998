package import Foundation

/// A message of the outbox, as it was when it became true.
package struct StoredMessage: Sendable, Hashable {
    /// Random; the same in every attempt and every replay.
    package let event: String
    /// A `Message.Kind`, perhaps of a newer release.
    package let type: String
    /// Nil where it concerns no customer.
    package let realm: Realm?
    package let publicID: String?
    package let userIDs: [String]
    package let data: [UInt8]
    package let createdAt: Date
}

/// One message on its way to one endpoint, in the hands of one worker until the lease ends.
package struct Delivery: Sendable, Hashable {
    package let id: Int64
    package let message: StoredMessage
    /// Counts from 1; a replay begins anew.
    package let attempt: Int
    /// When its days of tries began.
    package let queuedAt: Date

    /// What came of an attempt. Nothing of what the other side said but its status.
    package enum Outcome: Sendable, Hashable {
        case delivered(status: Int)
        /// `retryAt` nil: given up.
        case failed(status: Int?, detail: String, retryAt: Date?)
    }
}

/// What became of a message at one endpoint.
package struct StoredDelivery: Sendable, Hashable {
    package struct Attempt: Sendable, Hashable {
        package let at: Date
        package let status: Int?
        /// Why it failed; nil where it did not.
        package let detail: String?
    }

    package let endpoint: String
    package let deliveredAt: Date?
    /// When it is tried next; nil where it was delivered or given up.
    package let nextAttempt: Date?
    /// In their order, those before a replay too.
    package let attempts: [Attempt]
}

/// Which messages.
package enum MessageSelection: Sendable, Hashable {
    case event(String)
    /// All since this instant, inclusive.
    case since(Date)
}
