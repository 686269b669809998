import Hummingbird

/// A request to the admin API that has a valid admin key with the right for its route.
struct AdminCall {
    let request: Request
    let context: ServiceContext
    /// The maximum size of the request's body, in bytes.
    let bodySize: Int
    /// The name of the admin key, for the audit trail.
    let actor: String

    /// Reads the request's body as JSON. See `Request.decoded`.
    func body<Body: AdminRequest>(_ type: Body.Type) async throws -> Body {
        try await request.decoded(type, upTo: bodySize, in: context)
    }
}
