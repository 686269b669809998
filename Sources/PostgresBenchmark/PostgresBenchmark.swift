import PostgresServer
import TenurePostgres
@_spi(Benchmarks) public import TenureServer

/// The service beside a PostgreSQL server of its own, for the package under `Benchmarks/` only.
@_spi(Benchmarks)
public struct PostgresBenchmark: Sendable {
    public let service: CustomerBenchmark
    /// Stops with the last reference to it.
    private let server: PostgresServer

    /// The floor: one bare prepared SELECT of the customer whom the token names, and an answer from memory.
    public static let selectPath = CustomerBenchmark.selectPath

    /// Starts a server in a temporary folder. Throws where PostgreSQL is not installed.
    public init(configuration: ServiceConfiguration) async throws {
        server = try PostgresServer()
        let store = try await PostgresStore(PostgresAddress(server.url()))
        let bare = BareSelects(store)
        service = try await CustomerBenchmark(
            configuration: configuration, store: store, select: { try await bare.select($0) })
    }
}

/// Measures syncs on a separate PostgreSQL server.
@_spi(Benchmarks)
public struct PostgresSyncs: Sendable {
    public let benchmark: RecordBenchmark
    /// Stops with the last reference to it.
    private let server: PostgresServer

    /// Starts a server in a temporary folder. Throws where PostgreSQL is not installed.
    public init(configuration: ServiceConfiguration) async throws {
        server = try PostgresServer()
        benchmark = try await RecordBenchmark(
            configuration: configuration, store: try await PostgresStore(PostgresAddress(server.url())))
    }
}
