import HTTPTypes
import Hummingbird
import TenureAPI

/// Rejects query parameters that a route doesn't have, and parameters that occur twice.
///
/// A misspelled `limt=5` would return a whole page. Of `id=a&id=b`, a proxy could use one value and the service the
/// other.
struct QueryCheck: ServiceMiddleware {
    /// The query parameters of each route that has some, by method and path as in openapi.yaml.
    static let parameters: [String: [Substring]] = [
        "GET /v1/content": ["appVersion"],
        "GET /v1/content/{digest}": ["token"],
        "GET /v1/admin/customers": ["id"],
        "DELETE /v1/admin/customers/{id}": ["reason"],
        "GET /v1/admin/customers/{id}/timeline": ["after", "limit"],
        "GET /v1/admin/customers/{id}/export": ["reason", "unboundAfter"],
        "DELETE /v1/admin/customers/{id}/links/{user}": ["reason"],
        "DELETE /v1/admin/customers/{id}/merges/{other}": ["reason"],
        "GET /v1/admin/audit": ["customer", "before", "limit"],
    ]

    /// The routes that ignore all query parameters. The App Store, load balancers and monitoring systems send URLs that
    /// other people configured, and a rejected notification would be lost.
    static let uncheckedPaths: Set<String> = [
        NotificationRoute.path.description, HealthRoutes.livePath.description, HealthRoutes.readyPath.description,
        "/metrics",
    ]

    func handle(_ request: Request, context: ServiceContext, next: Next) async throws -> Response {
        // For a path without a route, Hummingbird uses a name without a slash.
        if let query = request.uri.query, let path = context.endpointPath, path.hasPrefix("/"),
            !Self.uncheckedPaths.contains(path)
        {
            // Each GET route also answers HEAD. Methods that no route has get status 405.
            let method = request.method == .head ? .get : request.method
            if HTTPRequest.Method.ofRoutes.contains(method) {
                try Self.check(query, against: Self.parameters["\(method.rawValue) \(path)"] ?? [])
            }
        }
        return try await next(request, context)
    }

    private static func check(_ query: String, against known: [Substring]) throws(Problem) {
        var found: Set<Substring> = []
        for parameter in query.split(separator: "&") {
            let name = parameter.prefix { $0 != "=" }
            guard known.contains(name) else {
                let names = known.isEmpty ? "none" : known.map { "`\($0)`" }.joined(separator: ", ")
                throw Problem(
                    .malformedRequest,
                    "there is no query parameter `\(name.prefix(64))`; this request takes \(names)")
            }
            guard found.insert(name).inserted else {
                throw Problem(.malformedRequest, "the query parameter `\(name)` is repeated; send it once")
            }
        }
    }
}
