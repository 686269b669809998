package import Foundation

extension SQLStore {
    package func announce(
        to endpoints: [Endpoint], under terms: String, at now: Date
    ) async throws(StoreError) {
        try await write(locking: [Self.announcing]) { session throws(StoreError) in
            try Ledger(session, at: now).announce(to: endpoints, under: terms)
        }
    }

    package func keep(_ endpoints: [Endpoint], at now: Date) async throws(StoreError) -> Bool {
        guard !endpoints.isEmpty else { return true }
        return try await write(locking: [Self.announcing]) { session throws(StoreError) in
            try Ledger(session, at: now).keep(endpoints)
        }
    }

    package func endpoints() async throws(StoreError) -> [NamedEndpoint] {
        try await read { session throws(StoreError) in try Ledger(session).namedEndpoints() }
    }

    package func forget(_ silent: [NamedEndpoint], at now: Date) async throws(StoreError) -> [ForgottenEndpoint] {
        // Reads first: mostly there is nothing to be forgotten, and that writes nothing.
        let hasStrays = try await read { session throws(StoreError) in try Ledger(session).hasStrayDeliveries() }
        guard hasStrays || !silent.isEmpty else { return [] }
        return try await write(locking: [Self.announcing]) { session throws(StoreError) in
            let ledger = Ledger(session, at: now)
            let forgotten = try ledger.forget(silent)
            try ledger.giveUpStrayDeliveries()
            return forgotten
        }
    }

    package func claimDeliveries(
        to endpoint: String, at now: Date, limit: Int, lease: TimeInterval
    ) async throws(StoreError) -> [Delivery] {
        let isAnyDue = try await read { session throws(StoreError) in
            try session.row(
                "SELECT 1 FROM deliveries WHERE endpoint = $1 AND next_at <= $2 LIMIT 1",
                [.text(endpoint), SQLValue(now.millisecondsSince1970)]) != nil
        }
        guard isAnyDue else { return [] }
        return try await write(locking: ["deliveries to \(endpoint)"]) { session throws(StoreError) in
            try Ledger(session, at: now).claimDeliveries(to: endpoint, limit: limit, lease: lease)
        }
    }

    package func settle(
        _ delivery: Delivery, as outcome: Delivery.Outcome, at now: Date
    ) async throws(StoreError) {
        try await write(locking: []) { session throws(StoreError) in
            try Ledger(session, at: now).settle(delivery, as: outcome)
        }
    }

    package func replay(_ selection: MessageSelection, at now: Date) async throws(StoreError) -> Int {
        try await write(locking: []) { session throws(StoreError) in
            try Ledger(session, at: now).replay(selection)
        }
    }

    package func messages(
        _ selection: MessageSelection, limit: Int
    ) async throws(StoreError) -> [(message: RecordedMessage, deliveries: [RecordedDelivery])] {
        try await read { session throws(StoreError) in try Ledger(session).messages(selection, limit: limit) }
    }

    package func pruneMessages(before: Date, limit: Int) async throws(StoreError) -> Int {
        let isAnyOld = try await read { session throws(StoreError) in
            let before = SQLValue(before.millisecondsSince1970)
            return try session.row("SELECT 1 FROM outbox WHERE created_at < $1 LIMIT 1", [before]) != nil
        }
        guard isAnyOld else { return 0 }
        return try await write(locking: []) { session throws(StoreError) in
            try Ledger(session).pruneMessages(before: before, limit: limit)
        }
    }

    static var announcing: String { "announcing" }
}
