import Foundation
import HTTPTypes
import Hummingbird

/// `GET /.well-known/jwks.json`: the public keys of entitlement tokens, for the app's own servers.
struct SigningKeysRoute: Sendable {
    let keys: SigningKeys
    let now: @Sendable () -> Date

    static let path: RouterPath = "/.well-known/jwks.json"

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        var response = Response.json(keys.current.jsonWebKeySet(at: now()))
        // Clients stop trusting a revoked key within this time.
        response.headers[.cacheControl] = "public, max-age=300"
        return response
    }
}
