import Hummingbird
import TenureAPI
import TenureStore

/// `GET /health/live`: the process answers. `GET /health/ready`: the database takes writes.
struct HealthRoutes: Sendable {
    let store: Store

    static let livePath: RouterPath = "/health/live"

    @Sendable func live(_ request: Request, context: ServiceContext) async throws -> Response {
        .json(Array(#"{"status":"ok"}"#.utf8))
    }

    @Sendable func ready(_ request: Request, context: ServiceContext) async throws -> Response {
        if let error = await store.writeFailure() {
            throw Problem(error) ?? Problem(.busy, "the database failed", reason: "databaseFailed", retryAfter: 5)
        }
        return .json(Array(#"{"status":"ok"}"#.utf8))
    }
}
