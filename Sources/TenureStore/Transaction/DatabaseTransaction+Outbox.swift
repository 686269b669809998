import Foundation

/// The outbox: messages for webhooks, written in the transaction that changes what they report.
extension DatabaseTransaction {
    /// Adds a message to the outbox, with a delivery for each endpoint that receives such messages. Does nothing if
    /// there is no such endpoint.
    ///
    /// - Parameters:
    ///   - customer: the customer whom the message concerns; nil if it concerns none.
    ///   - isBulk: whether the message is about one of the many customers that a published policy affects. Such
    ///     messages are sent after all other messages.
    func queue(_ message: Message, about customer: Customer?, isBulk: Bool = false) throws(StoreError) {
        var names: [String] = []
        for row in try session.rows("SELECT name, types, each_customer FROM endpoints ORDER BY name") {
            // This endpoint doesn't receive a message for each customer that a publication affects.
            if isBulk, try row.integer(2) == 0 { continue }
            let types = try row.text(1)
            guard types == "*" || types.split(separator: " ").contains(message.kind.rawValue[...]) else { continue }
            names.append(try row.text(0))
        }
        guard !names.isEmpty else { return }
        // The message about an erasure contains no user's ID. It also doesn't refer to the customer: otherwise it
        // wouldn't be delivered, and the erasure would remove it.
        let users = try customer.map { customer throws(StoreError) in
            message.kind == .customerErased ? [] : try self.users(of: customer.id)
        }
        let id = SQLValue(message.kind == .customerErased ? nil : customer?.id)
        let number = try session.insert(
            """
            INSERT INTO outbox (event, type, customer, realm, public_id, user_ids, data, created_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            [
                .text(PublicID.event.random()), .text(message.kind.rawValue), id, SQLValue(customer?.realm.code),
                SQLValue(customer?.publicID), SQLValue(users?.json),
                .text(String(decoding: message.data, as: UTF8.self)), milliseconds,
            ])
        guard let number else { throw .defect("a message was stored without a row ID") }
        for name in names { try queue(number, to: name, customer: id, isBulk: isBulk) }
    }

    /// Adds a delivery of a message to one endpoint.
    private func queue(_ message: Int64, to endpoint: String, customer: SQLValue, isBulk: Bool) throws(StoreError) {
        if !isBulk {
            // A customer's messages stay in order, so their waiting bulk messages are sent before this message.
            try session.execute(
                """
                UPDATE deliveries SET bulk = 0
                WHERE endpoint = $1 AND customer = $2 AND next_at IS NOT NULL AND bulk = 1
                """, [.text(endpoint), customer])
        }
        try session.execute(
            """
            INSERT INTO deliveries (message, endpoint, customer, bulk, attempts, queued_at, next_at)
            VALUES ($1, $2, $3, $4, 0, $5, $6)
            """, [.integer(message), .text(endpoint), customer, .integer(isBulk ? 1 : 0), milliseconds, milliseconds])
    }

    /// Whether there is a message that was created before an instant.
    func hasMessages(before: Date) throws(StoreError) -> Bool {
        try session.row("SELECT 1 FROM outbox WHERE created_at < $1 LIMIT 1", [SQLValue(before)]) != nil
    }

    /// Removes at most `limit` messages that were created before an instant and wait for no delivery. Returns how many.
    func pruneMessages(before: Date, limit: Int) throws(StoreError) -> Int {
        let ids = try session.integers(
            """
            SELECT id FROM outbox WHERE created_at < $1 AND NOT EXISTS (
                SELECT 1 FROM deliveries WHERE message = outbox.id AND next_at IS NOT NULL
            ) ORDER BY created_at LIMIT $2
            """, [SQLValue(before), SQLValue(limit)])
        try removeMessages(ids)
        return ids.count
    }

    /// Removes messages with their deliveries and attempts.
    private func removeMessages(_ ids: [Int64]) throws(StoreError) {
        try execute(
            "DELETE FROM delivery_log WHERE delivery IN (SELECT id FROM deliveries WHERE message IN \(Self.batch))",
            about: ids)
        try execute("DELETE FROM deliveries WHERE message IN \(Self.batch)", about: ids)
        try execute("DELETE FROM outbox WHERE id IN \(Self.batch)", about: ids)
    }

    /// The SQL condition for a message or delivery about a hidden customer: one who is being erased. The database marks
    /// hidden customers by their own ID in `merged_into`. Endpoints don't get such a message, which is removed later.
    ///
    /// - Parameter table: `outbox` or `deliveries`.
    static func isOfHidden(_ table: String) -> String {
        "EXISTS (SELECT 1 FROM customers WHERE customers.id = \(table).customer AND merged_into = customers.id)"
    }

    /// Removes at most `limit` rows of a hidden customer's messages and deliveries. Returns how many.
    func removeMessages(of customer: Int64, limit: Int) throws(StoreError) -> Int {
        // How many more rows may be removed.
        var left = limit
        for statement in Self.removingMessages {
            guard left > 0 else { break }
            left -= try session.execute(statement, [.integer(customer), SQLValue(left)])
        }
        return limit - left
    }

    /// Statements that remove attempts, deliveries and messages, in this order, because each table refers to the next
    /// table. The statements look at the first eight messages only, so that a transaction stays short for a customer
    /// with many messages.
    private static let removingMessages: [String] = {
        let first = "SELECT id FROM outbox WHERE customer = $1 ORDER BY id LIMIT 8"
        return [
            """
            DELETE FROM delivery_log WHERE id IN (
                SELECT delivery_log.id FROM delivery_log JOIN deliveries ON deliveries.id = delivery
                WHERE message IN (\(first)) LIMIT $2)
            """,
            "DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE message IN (\(first)) LIMIT $2)",
            "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE id IN (\(first)) LIMIT $2)",
        ]
    }()
}
