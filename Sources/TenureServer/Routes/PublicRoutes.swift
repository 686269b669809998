import Crypto
import Foundation
import Hummingbird
import Logging
import TenureAPI
import TenureJSON
import TenureStore

// The routes that need no token or key, for products, signing keys and supervisors.

/// `GET /v1/products`: the products of the policy and the entitlements that they grant. The response is the same for
/// all clients, so caches may store it.
struct ProductsRoute: Sendable {
    let policies: ActivePolicy

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        // If the database doesn't respond, the response has the policy that this process read last.
        try? await policies.refresh()
        var json = JSONWriter()
        json.value(ProductsResponse(policies.current))
        let body = json.bytes
        // The entity tag: 12 bytes of the hash are enough to tell responses apart.
        let tag = "\"\(Base64.urlSafe.text(Array(SHA256.hash(data: body).prefix(12))))\""
        let isKnown = EntityTag(tag).weaklyMatches(request.headers[.ifNoneMatch])
        var response = isKnown ? Response(status: .notModified) : Response.json(body)
        response.headers[.eTag] = tag
        // Clients see a new policy after five minutes at the latest.
        response.headers[.cacheControl] = "public, max-age=300"
        return response
    }
}

/// `GET /.well-known/jwks.json`: the public keys that verify entitlement tokens, for the app's own servers.
struct SigningKeysRoute: Sendable {
    let keys: SigningKeys
    let now: @Sendable () -> Date

    static let path: RouterPath = "/.well-known/jwks.json"

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        let keys = keys.current
        // Throws if another process has a newer key. Without that key in the response, the app's servers would reject
        // the tokens of the other process. A key in the response may also have been revoked.
        try keys.requireNewestKey()
        var response = Response.json(keys.jsonWebKeySet(at: now()))
        // Clients stop trusting a revoked key after five minutes at the latest.
        response.headers[.cacheControl] = "public, max-age=300"
        return response
    }
}

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
        context.logger.error("the database failed", metadata: ["detail": "\(error)"])
        throw Self.failed
    }

    /// Returns the problem that describes why the database can't be written.
    static func problem(of error: StoreError) -> Problem { Problem(error) ?? failed }

    private static let failed = Problem(
        .busy, "the database failed; the reason is in the service's log", reason: "databaseFailed", retryAfter: 5)
}
