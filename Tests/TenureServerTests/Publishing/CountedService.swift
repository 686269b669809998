import Hummingbird
import HummingbirdTesting
import StoreContract
import TenureStore

@testable import TenureServer

/// Runs a service on a database that counts its transactions, and can run code before each one that writes.
func withCountedService(
    _ body: @escaping @Sendable (AdminClient, CountedDatabase.Counts, ServiceConfiguration) async throws -> Void
) async throws {
    try await withFolder { folder in
        var configuration = try Calculator.configuration(folder)
        configuration.adminKey = AdminClient.adminKey
        let store = Store(CountedDatabase(try SQLiteDatabase(path: configuration.databasePath)))
        let service = try await TenureService(configuration, store: store)
        let application = try service.application(logger: Calculator.logger) { _ in }
        try await application.test(.router) { [configuration] in
            let admin = AdminClient(client: Client(http: $0), key: AdminClient.adminKey)
            try await body(admin, store.counts, configuration)
        }
        try? await store.close()
    }
}
