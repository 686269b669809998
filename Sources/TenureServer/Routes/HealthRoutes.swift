import Hummingbird
import TenureAPI
import TenureStore

/// `GET /health/live`: the process answers. `GET /health/ready`: it can use its database.
struct HealthRoutes: Sendable {
    let store: Store

    static let livePath: RouterPath = "/health/live"

    @Sendable func live(_ request: Request, context: ServiceContext) async throws -> Response {
        .json(Array(#"{"status":"ok"}"#.utf8))
    }

    @Sendable func ready(_ request: Request, context: ServiceContext) async throws -> Response {
        do {
            // Begins as every write does, and writes nothing.
            try await store.write { try $0.check() }
            return .json(Array(#"{"status":"ok"}"#.utf8))
        } catch {
            // Becomes that problem, and its cause is logged.
            if Problem(unusable: error) != nil { throw error }
            throw Problem(.busy, "the record does not answer", retryAfter: 5)
        }
    }
}
