package import Foundation

/// A webhook message of the outbox, with the data from the time of the reported event.
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

/// Delivers the messages of the outbox to webhook endpoints. `DatabaseTransaction+Outbox.swift` queues them. Messages
/// about a *hidden* customer, who is being erased, aren't delivered (`isOfHidden`).
extension DatabaseTransaction {
    /// After this many failed attempts, a message no longer delays later messages about the same customer.
    ///
    /// These attempts take an hour and a half. So a receiver that was down for less time gets all messages in order. A
    /// receiver that can't process one message gets the later messages after an hour and a half.
    static let orderedAttempts = 10

    /// Whether an endpoint has a due delivery: a quick check before `claimDeliveries`, which needs a transaction that
    /// writes. If true, `claimDeliveries` may still return nothing, because a delivery waits for an earlier delivery
    /// about the same customer.
    func isDeliveryDue(to endpoint: String) throws(StoreError) -> Bool {
        // `bulk` is always 0 or 1. Naming both lets the database use the index `deliveries_by_time`.
        try session.row(
            """
            SELECT 1 FROM deliveries
            WHERE endpoint = $1 AND bulk IN (0, 1) AND next_at <= $2 AND NOT \(Self.isOfHidden("deliveries"))
            LIMIT 1
            """, [.text(endpoint), milliseconds]) != nil
    }

    /// Returns, for each endpoint with waiting deliveries, how many wait and when the oldest was queued.
    package func webhookBacklog() throws(StoreError) -> [String: (count: Int, oldest: Date)] {
        let rows = try session.rows(
            "SELECT endpoint, count(*), min(queued_at) FROM deliveries WHERE next_at IS NOT NULL GROUP BY endpoint", [])
        var backlog: [String: (count: Int, oldest: Date)] = [:]
        for row in rows { backlog[try row.text(0)] = (try row.count(1), try row.instant(2)) }
        return backlog
    }

    /// Takes at most `limit` due deliveries to an endpoint. No other process takes them before `lease` has passed.
    ///
    /// - Parameter lease: the seconds after which another process may take a delivery again.
    func claimDeliveries(to endpoint: String, limit: Int, lease: TimeInterval) throws(StoreError) -> [Delivery] {
        // Messages about the many customers that a published policy affects come after all other messages.
        var rows = try dueDeliveries(to: endpoint, isBulk: false, limit: limit)
        if rows.count < limit { rows += try dueDeliveries(to: endpoint, isBulk: true, limit: limit - rows.count) }
        let end = now.addingTimeInterval(lease).millisecondsSince1970
        return try rows.map { row throws(StoreError) in
            let delivery = Delivery(
                id: try row.integer(7), message: try StoredMessage(row), attempt: Int(try row.integer(8)) + 1,
                queuedAt: try row.instant(9))
            try session.execute(
                "UPDATE deliveries SET attempts = $1, next_at = $2 WHERE id = $3",
                [SQLValue(delivery.attempt), .integer(end), .integer(delivery.id)])
            return delivery
        }
    }

    /// Returns the rows of deliveries that are due. A delivery waits for an earlier delivery about the same customer
    /// until the earlier delivery has succeeded, was abandoned, or was attempted `orderedAttempts` times.
    private func dueDeliveries(to endpoint: String, isBulk: Bool, limit: Int) throws(StoreError) -> [SQLRow] {
        try session.rows(
            """
            SELECT \(StoredMessage.columns), deliveries.id, deliveries.attempts, deliveries.queued_at
            FROM deliveries JOIN outbox ON outbox.id = deliveries.message
            WHERE deliveries.endpoint = $1 AND deliveries.bulk = $2 AND deliveries.next_at <= $3
                AND NOT \(Self.isOfHidden("deliveries")) AND NOT EXISTS (
                SELECT 1 FROM deliveries AS earlier
                WHERE earlier.endpoint = deliveries.endpoint AND earlier.customer = deliveries.customer
                    AND earlier.id < deliveries.id AND earlier.next_at IS NOT NULL AND earlier.attempts < $4
            ) ORDER BY deliveries.next_at, deliveries.id LIMIT $5
            """,
            [.text(endpoint), .integer(isBulk ? 1 : 0), milliseconds, SQLValue(Self.orderedAttempts), SQLValue(limit)])
    }

    /// Stores the result of an attempt. If the lease ended and another process took the delivery, the result is only
    /// added to the delivery log.
    package func recordAttempt(of delivery: Delivery, _ outcome: Delivery.Outcome) throws(StoreError) {
        let log: (status: SQLValue, detail: SQLValue)
        let dates: (next: SQLValue, delivered: SQLValue)
        switch outcome {
        case .delivered(let status):
            log = (SQLValue(status), .null)
            dates = (.null, milliseconds)
        case .failed(let status, let detail, let retryAt):
            log = (SQLValue(status), .text(detail))
            dates = (SQLValue(retryAt), .null)
        }
        let insertedRows = try session.execute(
            """
            INSERT INTO delivery_log (delivery, at, status, detail)
            SELECT id, CAST($1 AS BIGINT), CAST($2 AS BIGINT), CAST($3 AS TEXT) FROM deliveries WHERE id = $4
            """, [milliseconds, log.status, log.detail, .integer(delivery.id)])
        // If no row was inserted, the delivery was removed in the meantime, with the customer.
        guard insertedRows > 0 else { return }
        try session.execute(
            """
            UPDATE deliveries SET next_at = $1, delivered_at = $2
            WHERE id = $3 AND attempts = $4 AND next_at IS NOT NULL
            """, [dates.next, dates.delivered, .integer(delivery.id), SQLValue(delivery.attempt)])
    }

    /// Queues messages again, delivered or not, for every endpoint that subscribes to their types now. Returns how many
    /// deliveries were queued.
    package func replay(_ selection: MessageSelection) throws(StoreError) -> Int {
        let (condition, value) = selection.condition
        for row in try session.rows("SELECT name, types FROM endpoints ORDER BY name") {
            let types = try row.text(1)
            // If the endpoint is newer than the message, it has no delivery of the message yet. This adds one, and the
            // update below makes it due.
            try session.execute(
                """
                INSERT INTO deliveries (message, endpoint, customer, bulk, attempts, queued_at)
                SELECT id, CAST($1 AS TEXT), customer, 0, 0, CAST($2 AS BIGINT) FROM outbox
                WHERE (CAST($3 AS TEXT) = '*' OR ' ' || CAST($4 AS TEXT) || ' ' LIKE '% ' || type || ' %')
                    AND NOT \(Self.isOfHidden("outbox")) AND outbox.\(condition) $5
                ON CONFLICT DO NOTHING
                """, [.text(try row.text(0)), milliseconds, .text(types), .text(types), value])
        }
        return try session.execute(
            """
            UPDATE deliveries SET attempts = 0, queued_at = $1, next_at = $2, delivered_at = NULL
            WHERE endpoint IN (SELECT name FROM endpoints)
                AND message IN (
                    SELECT id FROM outbox WHERE NOT \(Self.isOfHidden("outbox")) AND outbox.\(condition) $3)
            """, [milliseconds, milliseconds, value])
    }

    /// Returns at most `limit` messages with their deliveries, the latest message first.
    package func messages(
        _ selection: MessageSelection, limit: Int
    ) throws(StoreError) -> [(message: StoredMessage, deliveries: [StoredDelivery])] {
        let (condition, value) = selection.condition
        let rows = try session.rows(
            """
            SELECT \(StoredMessage.columns), outbox.id FROM outbox
            WHERE NOT \(Self.isOfHidden("outbox")) AND outbox.\(condition) $1
            ORDER BY outbox.id DESC LIMIT $2
            """, [value, SQLValue(limit)])
        return try rows.map { row throws(StoreError) in
            (try StoredMessage(row), try deliveries(of: try row.integer(7)))
        }
    }

    /// Returns the deliveries of a message, with all attempts.
    private func deliveries(of message: Int64) throws(StoreError) -> [StoredDelivery] {
        try session.rows(
            "SELECT id, endpoint, delivered_at, next_at FROM deliveries WHERE message = $1 ORDER BY endpoint",
            [.integer(message)]
        ).map { row throws(StoreError) in
            let attempts = try session.rows(
                "SELECT at, status, detail FROM delivery_log WHERE delivery = $1 ORDER BY id",
                [.integer(try row.integer(0))]
            ).map { row throws(StoreError) in
                StoredDelivery.Attempt(
                    at: try row.instant(0), status: try row.integerIfPresent(1).map { Int($0) },
                    detail: try row.textIfPresent(2))
            }
            return StoredDelivery(
                endpoint: try row.text(1), deliveredAt: try row.instantIfPresent(2),
                nextAttempt: try row.instantIfPresent(3), attempts: attempts)
        }
    }
}

extension MessageSelection {
    /// The beginning of an SQL condition about `outbox`, such as `event =`, and the value to compare with.
    fileprivate var condition: (text: String, value: SQLValue) {
        switch self {
        case .event(let event): ("event =", .text(event))
        case .since(let instant): ("created_at >=", SQLValue(instant))
        }
    }
}

extension StoredMessage {
    /// The columns in the order in which `init` reads them.
    fileprivate static let columns = """
        outbox.event, outbox.type, outbox.realm, outbox.public_id, outbox.user_ids, outbox.data, outbox.created_at
        """

    fileprivate init(_ row: SQLRow) throws(StoreError) {
        let hasRealm = try row.integerIfPresent(2) != nil
        self.init(
            event: try row.text(0), type: try row.text(1),
            realm: hasRealm ? try row.codedValue(2, "realm", Realm.init(code:)) : nil,
            publicID: try row.textIfPresent(3),
            userIDs: try row.json(4, "the column `user_ids` of a webhook message isn't a list of strings") ?? [],
            data: Array(try row.text(5).utf8), createdAt: try row.instant(6))
    }
}
