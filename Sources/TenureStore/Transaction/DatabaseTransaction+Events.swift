import Foundation
import TenureCore

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
    func events(of member: Int64) throws(StoreError) -> [StoredEvent] {
        try numberedEvents(of: member).map(\.event)
    }

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

extension Dictionary where Key == String, Value: Encodable {
    var json: String { sortedJSON(self) ?? "{}" }
}

extension [String] {
    var json: String { sortedJSON(self) ?? "[]" }
}

/// JSON with sorted keys, so that equal values have equal text.
private func sortedJSON(_ value: some Encodable) -> String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
}
