/// The webhook endpoints that running services have registered. A *heartbeat* shows that a process still serves an
/// endpoint.
extension DatabaseTransaction {
    /// Stores new heartbeats of these endpoints. Returns false, and skips the rest, if one of them isn't registered;
    /// otherwise true.
    package func sendHeartbeats(of endpoints: [Endpoint]) throws(StoreError) -> Bool {
        for endpoint in endpoints {
            let row = try session.row("SELECT 1 FROM endpoints WHERE name = $1", [.text(endpoint.name)])
            guard row != nil else { return false }
            try sendHeartbeat(of: endpoint)
        }
        return true
    }

    /// Registers an endpoint, or changes the kinds of messages that it receives. From now on, messages are queued for
    /// the endpoint.
    func insert(_ endpoint: Endpoint) throws(StoreError) {
        try session.execute(
            """
            INSERT INTO endpoints (name, types, each_customer) VALUES ($1, $2, $3)
            ON CONFLICT (name) DO UPDATE SET types = excluded.types, each_customer = excluded.each_customer
            """, [.text(endpoint.name), .text(endpoint.types), .integer(endpoint.eachCustomer ? 1 : 0)])
        try sendHeartbeat(of: endpoint)
    }

    /// The registered endpoints, with their last heartbeats.
    package func endpoints() throws(StoreError) -> [NamedEndpoint] {
        try session.texts("SELECT name FROM endpoints ORDER BY name").map { name throws(StoreError) in
            NamedEndpoint(name: name, heartbeat: try storedValue(named: Self.heartbeat(of: name)))
        }
    }

    /// Whether messages wait for an endpoint that was removed. A concurrent transaction may have queued such a message.
    func hasStrayDeliveries() throws(StoreError) -> Bool {
        try session.row("SELECT 1 FROM deliveries WHERE \(Self.isStray) LIMIT 1") != nil
    }

    /// Ends the attempts to deliver messages to endpoints that were removed.
    func abandonStrayDeliveries() throws(StoreError) {
        try session.execute("UPDATE deliveries SET next_at = NULL WHERE \(Self.isStray)")
    }

    /// The SQL condition for a waiting delivery to an endpoint that was removed.
    private static let isStray = "next_at IS NOT NULL AND endpoint NOT IN (SELECT name FROM endpoints)"

    /// Removes an endpoint, and abandons its messages. Returns how many messages waited for it.
    func removeEndpoint(_ name: String) throws(StoreError) -> Int {
        try session.execute("DELETE FROM endpoints WHERE name = $1", [.text(name)])
        try setStoredValue(named: Self.heartbeat(of: name), to: nil)
        return try session.execute(
            "UPDATE deliveries SET next_at = NULL WHERE next_at IS NOT NULL AND endpoint = $1", [.text(name)])
    }

    /// Stores a heartbeat: a random value. A heartbeat isn't a time, because clocks differ between machines, and a
    /// test's clock may not move.
    func sendHeartbeat(of endpoint: Endpoint) throws(StoreError) {
        try setStoredValue(
            named: Self.heartbeat(of: endpoint.name), to: String(UInt64.random(in: .min ... .max), radix: 36))
    }

    /// The name of the row in `progress` with the endpoint's heartbeat.
    private static func heartbeat(of name: String) -> String { "heartbeat of endpoint \(name)" }
}
