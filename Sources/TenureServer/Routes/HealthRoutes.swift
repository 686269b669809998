import Hummingbird
import TenureAPI
import TenureStore

/// `GET /health/live`: the process responds. `GET /health/ready`: the database responds too.
struct HealthRoutes: Sendable {
    let store: Store

    static let livePath: RouterPath = "/health/live"

    @Sendable func live(_ request: Request, context: ServiceContext) async throws -> Response {
        .json(Array(#"{"status":"ok"}"#.utf8))
    }

    @Sendable func ready(_ request: Request, context: ServiceContext) async throws -> Response {
        do {
            try await store.read { try $0.check() }
            return .json(Array(#"{"status":"ok"}"#.utf8))
        } catch StoreError.replaced {
            throw Problem.databaseReplaced
        } catch {
            throw Problem(.busy, "the database doesn't respond; see the service's log", retryAfter: 5)
        }
    }
}
