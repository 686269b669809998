package import Foundation

/// A webhook message of the outbox, as it was when the event happened that it reports.
package struct StoredMessage: Sendable, Hashable {
    /// The event's random ID, the same in every attempt and every replay.
    package let event: String
    /// The `rawValue` of a `Message.Kind`. This release may not know the kind, if a newer release stored it.
    package let type: String
    /// The App Store environment, or the test authority, of the customer; nil if the message concerns no customer.
    package let realm: Realm?
    /// The customer's public ID at the time of the event; nil if the message concerns no customer.
    package let publicID: String?
    /// The IDs of the app's users to whom the customer was linked at the time of the event.
    package let userIDs: [String]
    /// A JSON object with the fields that are specific to the type.
    package let data: [UInt8]
    package let createdAt: Date
}

/// The delivery of one message to one endpoint. A worker that claims a delivery leases it for some time
/// (`claimDeliveries`). Until the lease ends, no other worker attempts the delivery.
package struct Delivery: Sendable, Hashable {
    /// The row ID of the delivery.
    package let id: Int64
    package let message: StoredMessage
    /// The number of the attempt, from 1. A replay starts at 1 again.
    package let attempt: Int
    /// The time when the message was queued. The period in which failed attempts are repeated starts then.
    package let queuedAt: Date

    /// The result of an attempt. The endpoint's response isn't stored, except for its status.
    package enum Outcome: Sendable, Hashable {
        /// The endpoint accepted the message, with this HTTP status.
        case delivered(status: Int)
        /// The attempt failed. `status` is the HTTP status; nil without a response. No attempt follows if `retryAt` is
        /// nil.
        case failed(status: Int?, detail: String, retryAt: Date?)
    }
}

/// The state of a message's delivery to one endpoint.
package struct StoredDelivery: Sendable, Hashable {
    /// One attempt to deliver the message.
    package struct Attempt: Sendable, Hashable {
        package let at: Date
        /// The HTTP status of the response; nil without a response.
        package let status: Int?
        /// Why the attempt failed; nil if it succeeded.
        package let detail: String?
    }

    /// The name of the endpoint.
    package let endpoint: String
    /// When the endpoint accepted the message; nil if it hasn't.
    package let deliveredAt: Date?
    /// When the next attempt is due; nil if the message was delivered or abandoned.
    package let nextAttempt: Date?
    /// The attempts in order, including those before a replay.
    package let attempts: [Attempt]
}

/// Selects messages to read or to send again.
package enum MessageSelection: Sendable, Hashable {
    /// The message about the event with this ID.
    case event(String)
    /// All messages since this instant, inclusive.
    case since(Date)
}
