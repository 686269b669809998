import Foundation
import HTTPTypes
import Hummingbird

/// `GET /.well-known/jwks.json`: the public keys that verify entitlement tokens, for the app's own servers.
struct SigningKeysRoute: Sendable {
    let keys: SigningKeys
    let now: @Sendable () -> Date

    static let path: RouterPath = "/.well-known/jwks.json"

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        let keys = keys.current
        // Send no keys if this process doesn't have the newest key: backends would reject valid tokens, and one of the
        // older keys may be revoked.
        try keys.requireNewestKey()
        var response = Response.json(keys.jsonWebKeySet(at: now()))
        // Clients stop trusting a revoked key after five minutes at the latest.
        response.headers[.cacheControl] = "public, max-age=300"
        return response
    }
}
