import Hummingbird
import TenureAPI
import TenureJSON
import TenureStore

/// The routes for supervisors and load balancers. `GET /health/live` succeeds if the process responds, and
/// `GET /health/ready` if the database also accepts writes.
struct HealthRoutes: Sendable {
    let store: Store

    static let livePath: RouterPath = "/health/live"
    static let readyPath: RouterPath = "/health/ready"
    static var alive: Response { .jsonObject { $0.field("status", "ok") } }

    @Sendable func live(_ request: Request, context: ServiceContext) async throws -> Response { Self.alive }

    @Sendable func ready(_ request: Request, context: ServiceContext) async throws -> Response {
        guard let error = await store.writeFailure() else { return Self.alive }
        // `ProblemMiddleware` turns the error into a problem and logs the cause of the error.
        if Problem(error) != nil { throw error }
        throw Self.failed
    }

    /// Why the database can't be written; nil if the database can be written.
    func problem() async -> Problem? {
        guard let error = await store.writeFailure() else { return nil }
        return Problem(error) ?? Self.failed
    }

    private static let failed = Problem(
        .busy, "the database failed; the reason is in the service's log", reason: "databaseFailed", retryAfter: 5)
}
