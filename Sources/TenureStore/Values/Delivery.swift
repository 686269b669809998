package import Foundation

/// A message of the outbox, as it was when the event happened.
package struct StoredMessage: Sendable, Hashable {
    /// The event's random ID, the same in every attempt and every replay.
    package let event: String
    /// The `rawValue` of a `Message.Kind`. This release may not know the kind, if a newer release stored it.
    package let type: String
    /// The authority that signed the customer's artifacts; nil if the message concerns no customer.
    package let realm: Realm?
    /// The customer's public ID at the time of the event; nil if the message concerns no customer.
    package let publicID: String?
    /// The app's users to whom the customer was linked at the time of the event.
    package let userIDs: [String]
    /// A JSON object with the fields that are specific to the type.
    package let data: [UInt8]
    package let createdAt: Date
}

/// The delivery of one message to one endpoint. A worker that claims a delivery leases it for some time
/// (`claimDeliveries`). Until the lease ends, no other worker attempts the delivery.
package struct Delivery: Sendable, Hashable {
    package let id: Int64
    package let message: StoredMessage
    /// The number of the attempt, from 1. A replay starts at 1 again.
    package let attempt: Int
    /// The time when the message was queued. The period in which failed attempts are repeated starts then.
    package let queuedAt: Date

    /// The result of an attempt. The endpoint's response isn't stored, except for its status.
    package enum Outcome: Sendable, Hashable {
        case delivered(status: Int)
        /// The attempt failed. No attempt follows if `retryAt` is nil.
        case failed(status: Int?, detail: String, retryAt: Date?)
    }
}

/// The state of a message's delivery to one endpoint.
package struct StoredDelivery: Sendable, Hashable {
    /// One attempt to deliver the message.
    package struct Attempt: Sendable, Hashable {
        package let at: Date
        package let status: Int?
        /// Why the attempt failed; nil if it succeeded.
        package let detail: String?
    }

    package let endpoint: String
    package let deliveredAt: Date?
    /// The time when the next attempt is due; nil if no attempt follows.
    package let nextAttempt: Date?
    /// The attempts in order, including those before a replay.
    package let attempts: [Attempt]
}

/// Selects messages.
package enum MessageSelection: Sendable, Hashable {
    /// The message about the event with this ID.
    case event(String)
    /// All messages since this instant, inclusive.
    case since(Date)
}
