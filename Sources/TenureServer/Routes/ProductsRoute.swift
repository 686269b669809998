import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import TenureAPI
import TenureJSON

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
        let tag = "\"\(Base64.urlSafe.text(Array(SHA256.hash(data: body).prefix(12))))\""
        let isKnown = EntityTag(tag).weaklyMatches(request.headers[.ifNoneMatch])
        var response = isKnown ? Response(status: .notModified) : Response.json(body)
        response.headers[.eTag] = tag
        // Clients see a new policy after five minutes at the latest.
        response.headers[.cacheControl] = "public, max-age=300"
        return response
    }
}
