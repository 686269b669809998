import PostgresServer
import TenurePostgres
import TenureServer
import TenureStore

/// The service with a separate PostgreSQL server.
struct PostgresBenchmark: Sendable {
    let service: CustomerBenchmark
    /// Stops with the last reference to it.
    private let server: PostgresServer

    /// Starts a server in a temporary folder. Throws where PostgreSQL isn't installed.
    init(configuration: ServiceConfiguration) async throws {
        server = try PostgresServer()
        let database = try await PostgresDatabase(PostgresAddress(server.url()))
        let bare = BareSelects(database)
        service = try await CustomerBenchmark(
            configuration: configuration, store: Store(database), select: { try await bare.select($0) })
    }
}

/// Measures syncs on a separate PostgreSQL server.
struct PostgresSyncs: Sendable {
    let benchmark: DatabaseBenchmark
    /// Stops with the last reference to it.
    private let server: PostgresServer

    /// Starts a server in a temporary folder. Throws where PostgreSQL isn't installed.
    init(configuration: ServiceConfiguration) async throws {
        server = try PostgresServer()
        benchmark = try await DatabaseBenchmark(
            configuration: configuration, store: Store(try await PostgresDatabase(PostgresAddress(server.url()))))
    }
}
