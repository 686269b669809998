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
        // If another process has a newer key, this process doesn't have that key, so servers that get this response
        // would reject tokens that the newer key signed. One of this process's keys may also be revoked by now.
        try keys.requireNewestKey()
        var response = Response.json(keys.jsonWebKeySet(at: now()))
        // Clients stop trusting a revoked key after five minutes at the latest.
        response.headers[.cacheControl] = "public, max-age=300"
        return response
    }
}
