import HTTPTypes
import Hummingbird
import TenureAPI

/// Turns away who asks too often, by address and by access token, before anything is read or decided.
struct RateLimitMiddleware: RouterMiddleware {
    typealias Context = ServiceContext

    private let byAddress: TokenBuckets?
    private let byToken: TokenBuckets?

    init(_ limits: ServiceConfiguration.RateLimits) {
        byAddress = limits.perAddress.map { TokenBuckets($0) }
        byToken = limits.perToken.map { TokenBuckets($0) }
    }

    func handle(
        _ request: Request, context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        if let byAddress, let address = context.peer?.address {
            // Whoever has one address of a /64 has all of them.
            let client = address.isIPv4 ? address : address.prefix(64)
            if let wait = byAddress.take(Self.number(of: client)) { throw Self.refusal(after: wait) }
        }
        // Not checked yet: rubbish has buckets too, but rubbish comes from an address.
        if let byToken, let authorization = request.headers[.authorization],
            // Without `Bearer `, which may be written in any case.
            let wait = byToken.take(Self.number(of: authorization.dropFirst(7)))
        {
            throw Self.refusal(after: wait)
        }
        return try await next(request, context)
    }

    /// The hash is keyed anew in each process, so that nobody can aim at another's bucket.
    private static func number(of client: some Hashable) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(client)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private static func refusal(after wait: Double) -> Problem {
        let seconds = max(1, Int(min(wait, 3600).rounded(.up)))
        return Problem(
            .tooManyRequests, "too many requests came in a short time; wait, then go on", retryAfter: seconds)
    }
}
