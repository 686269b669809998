import Hummingbird
import TenureAPI

/// Rejects requests of clients that send too many requests, counted by address and by access token. Behind a proxy,
/// also rejects requests of clients with too many requests in progress. The middleware runs before the body is read.
///
/// `GET /health/live` has no limit: if this request were refused, a supervisor would restart a service that works.
struct RateLimitMiddleware: ServiceMiddleware {
    private let byAddress: TokenBuckets?
    private let byToken: TokenBuckets?
    private let inProgress: RequestsInProgress

    init(_ configuration: ServiceConfiguration) {
        byAddress = TokenBuckets(configuration.rateLimits.perAddress)
        byToken = TokenBuckets(configuration.rateLimits.perToken)
        inProgress = RequestsInProgress(
            limit: configuration.limits.connectionsPerAddress, total: configuration.connectionLimit)
    }

    func handle(_ request: Request, context: ServiceContext, next: Next) async throws -> Response {
        if context.endpointPath == HealthRoutes.livePath.description { return try await next(request, context) }
        if let byAddress, let address = context.peer?.address,
            let wait = byAddress.take(Self.bucketID(of: address.ofClient))
        {
            return try Self.refuse(context, after: wait)
        }
        // The token isn't checked yet, so invalid tokens have buckets too. Clients that send many invalid tokens reach
        // the limit by address.
        if let byToken, let authorization = request.headers[.authorization],
            // The seven characters of `Bearer ` are left out, because clients may write them in uppercase or lowercase.
            let wait = byToken.take(Self.bucketID(of: authorization.dropFirst(7)))
        {
            return try Self.refuse(context, after: wait)
        }
        guard let peer = context.peer, peer.isBehindProxy, let address = peer.address else {
            return try await next(request, context)
        }
        guard inProgress.begin(for: address) else { return try Self.refuse(context, after: 1) }
        defer { inProgress.end(for: address) }
        return try await next(request, context)
    }

    /// Returns a hash of a client's address or token, which identifies its bucket. Swift seeds hashes randomly in each
    /// process, so no client can find a string that shares the bucket of another client.
    private static func bucketID(of client: some Hashable) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(client)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Throws the problem of a client that must wait. If the request is a notification from the App Store, returns the
    /// problem as a response instead.
    private static func refuse(_ context: ServiceContext, after wait: Double) throws(Problem) -> Response {
        let seconds = max(1, Int(min(wait, 3600).rounded(.up)))
        guard context.endpointPath == NotificationRoute.path.description else {
            throw Problem(
                .tooManyRequests, "too many requests in a short time; send this request again after \(seconds) s",
                retryAfter: seconds)
        }
        // The App Store sends a notification again after a 5xx status, but not after a 4xx. The problem isn't thrown,
        // because the log would report a failure of the service, and any client could fill the log.
        return .problem(
            Problem(.busy, "too many notifications in a short time; send this notification again", retryAfter: seconds))
    }
}
