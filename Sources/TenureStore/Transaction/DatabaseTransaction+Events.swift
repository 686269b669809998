package import Foundation

/// An event in a customer's timeline: a change that no artifact shows.
package struct StoredEvent: Sendable, Hashable {
    /// The kinds of events, by the names in the database.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// From this event on, the service knows all purchases of the customer's account.
        case purchasesComplete
        /// Another customer was merged into this customer.
        case merged
        /// The merge of two customers was undone.
        case unmerged
        /// The customer was linked to a user of the app.
        case linked
        /// The link to a user of the app was removed.
        case unlinked
        /// The customer's acquisition of the app moved to another user of the app, with its promises (`StoredPromise`).
        case transferred
        /// The customer uses more devices than `DeviceUse.limit`.
        case manyDevices
        /// The publication of a policy ended promises (`StoredPromise`).
        case promisesEnded
        /// A rollback restored promises.
        case promisesRestored
    }

    package let kind: Kind
    package let at: Date
    /// The name of the admin key that caused the event; nil for the service itself.
    package let actor: String?
    /// Further fields by name, such as `reason`, or `customer` with the other customer of a merge.
    package let detail: [String: String]

    init(_ kind: Kind, at: Date, actor: String? = nil, detail: [String: String] = [:]) {
        self.kind = kind
        self.at = at.toMillisecond
        self.actor = actor
        self.detail = detail
    }
}

/// The timeline of a customer: what happened, besides artifacts and the grants and revocations by support.
extension DatabaseTransaction {
    /// Appends an event to the customer's timeline. The event belongs to the member (row of `customers`) by which the
    /// customer was found, so that this member keeps it if a merge is undone.
    func append(
        _ kind: StoredEvent.Kind, to customer: Customer, actor: String? = nil, detail: [String: String] = [:]
    ) throws(StoreError) {
        try append(kind, toMember: customer.member, actor: actor, detail: detail)
    }

    /// Appends an event to the timeline of one member.
    func append(
        _ kind: StoredEvent.Kind, toMember member: Int64, actor: String?, detail: [String: String]
    ) throws(StoreError) {
        try session.execute(
            "INSERT INTO events (customer, kind, at, actor, detail) VALUES ($1, $2, $3, $4, $5)",
            [
                .integer(member), .text(kind.rawValue), milliseconds, SQLValue(actor),
                detail.isEmpty ? .null : .text(detail.json),
            ])
    }

    /// A member's events, in the order in which they happened.
    func events(of member: Int64) throws(StoreError) -> [StoredEvent] { try numberedEvents(of: member).map(\.event) }

    /// A member's events with their row IDs, in the order in which they happened.
    func numberedEvents(of member: Int64) throws(StoreError) -> [(number: Int64, event: StoredEvent)] {
        try session.rows(
            "SELECT kind, at, actor, detail, id FROM events WHERE customer = $1 ORDER BY id", [.integer(member)]
        ).map { row throws(StoreError) in
            let event = StoredEvent(
                try row.namedValue(0, "an event has the unknown kind"), at: try row.instant(1),
                actor: try row.textIfPresent(2), detail: try row.detail(3))
            return (try row.integer(4), event)
        }
    }
}
