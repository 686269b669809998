import TenureCore
package import TenureStore

/// The limited connections of this process to one server. All apps of the process with a database on this server share
/// them.
package final class PostgresBudget: Sendable {
    /// The connections for transactions.
    let transactions = PostgresWorkers(for: .transactions, limit: 1)
    /// The connections that only look up customers.
    let lookups = PostgresWorkers(for: .lookups, limit: 2)
    /// The clusters by URL. A cluster is the servers, database and role of one URL; apps with the same URL share it.
    private let clusters = Locked<[String: Weak<PostgresCluster>]>([:])

    private init() {}

    /// All budgets of this process, by the servers that the apps' URLs name.
    private static let budgets = Locked<[Set<PostgresHostName>: Weak<PostgresBudget>]>([:])

    /// Returns the budget of the address's server. The budget exists as long as an app uses it.
    static func shared(for address: PostgresAddress) -> PostgresBudget {
        let budget = budgets.withLock { budgets in
            budgets = budgets.filter { $0.value.object != nil }
            let key = Set(address.hosts)
            if let known = budgets[key]?.object { return known }
            let new = PostgresBudget()
            budgets[key] = Weak(object: new)
            return new
        }
        budget.transactions.raiseLimit(to: address.connections)
        return budget
    }

    /// Returns the cluster of the address. A new cluster raises the number of look-up connections.
    func cluster(for address: PostgresAddress) -> PostgresCluster {
        let (cluster, count) = clusters.withLock { clusters in
            clusters = clusters.filter { $0.value.object != nil }
            let key = Self.key(of: address)
            if let known = clusters[key]?.object { return (known, clusters.count) }
            let new = PostgresCluster(address)
            clusters[key] = Weak(object: new)
            return (new, clusters.count)
        }
        lookups.raiseLimit(to: Self.lookupLimit(forDatabases: count))
        return cluster
    }

    /// Identifies a cluster: the URL for libpq, and the parameter `allow_fsync_off`, which isn't in that URL.
    private static func key(of address: PostgresAddress) -> String {
        "\(address.allowsFsyncOff) \(address.url.revealed)"
    }

    /// Returns the maximum number of connections that only look up customers. More databases need more connections,
    /// because a connection can't change its database.
    private static func lookupLimit(forDatabases count: Int) -> Int { max(2, min(8, count + 1)) }

    /// A weak reference, so that a dictionary doesn't keep its objects alive.
    private struct Weak<Object: AnyObject & Sendable>: Sendable { weak let object: Object? }
}

/// How many connections a service needs to one server at most, and how many the server allows.
package struct PostgresBudgetReport: Sendable {
    /// The server, without secrets.
    package let server: String
    /// The maximum number of connections that the apps open.
    package let neededConnections: Int
    /// The number of connections that the server allows; a failure if it doesn't answer.
    package let allowedConnections: Result<Int, StoreError>
}

extension PostgresBudget {
    /// Computes how many connections these apps may open to each server, and asks the server how many it allows.
    package static func reports(for addresses: [PostgresAddress]) async -> [PostgresBudgetReport] {
        var servers: Set<Set<PostgresHostName>> = []
        var reports: [PostgresBudgetReport] = []
        for first in addresses {
            guard servers.insert(Set(first.hosts)).inserted else { continue }
            let addresses = addresses.filter { Set($0.hosts) == Set(first.hosts) }
            let databases = Set(addresses.map(key)).count
            let needed = (addresses.map(\.connections).max() ?? 0) + lookupLimit(forDatabases: databases)
            reports.append(
                PostgresBudgetReport(
                    server: first.description, neededConnections: needed,
                    allowedConnections: await allowedConnections(at: first)))
        }
        return reports
    }

    /// Asks a server how many connections it allows to roles that may not use reserved connections.
    private static func allowedConnections(at address: PostgresAddress) async -> Result<Int, StoreError> {
        let pool = PostgresPool(to: PostgresCluster(address), for: .lookups, limit: 1, waitTimeout: .seconds(3))
        let result: Result<Int, StoreError>
        do throws(StoreError) {
            let row = try await pool.run { connection throws(PostgresFailure) in
                try connection.transact(.reading) { () throws(PostgresFailure) in
                    try connection.rows(
                        """
                        SELECT current_setting('max_connections')::int
                        - current_setting('superuser_reserved_connections')::int
                        - coalesce(current_setting('reserved_connections', true), '0')::int
                        """
                    ).first
                }
            }
            result = .success(Int(try row?.integer(0) ?? 0))
        } catch {
            result = .failure(error)
        }
        await pool.close()
        return result
    }
}
