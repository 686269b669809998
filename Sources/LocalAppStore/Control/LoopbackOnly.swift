import Hummingbird

/// Rejects requests with a `Host` other than this machine. Otherwise a web page could let its own host name resolve to
/// this machine, and send requests to this server (DNS rebinding).
struct LoopbackOnly<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let name = request.head.authority ?? ""
        let host = name.hasPrefix("[") ? String(name.prefix { $0 != "]" }) + "]" : String(name.prefix { $0 != ":" })
        guard ["127.0.0.1", "localhost", "[::1]", ""].contains(host.lowercased()) else {
            return Response(status: .misdirectedRequest)
        }
        return try await next(request, context)
    }
}
