import Dispatch
import HTTPTypes
import Hummingbird
import Logging

/// The outermost middleware: it identifies the client, gives the request an ID, and reports the result to the log and
/// metrics.
///
/// Each request is one line in the log. The line has the route, such as `/v1/content/{digest}`, but no path, header or
/// body from the client.
struct AccessMiddleware: ServiceMiddleware {
    let proxies: [AddressBlock]
    let metrics: ServiceMetrics
    let bodies: BodyBudget

    func handle(_ request: Request, context: ServiceContext, next: Next) async throws -> Response {
        var context = context
        let peer = Peer(socket: context.remoteAddress, headers: request.headers, proxies: proxies)
        context.peer = peer
        context.bodies = bodies
        if let id = RequestID.idFromProxy(of: request, from: peer) {
            context.requestID = id
            context.logger[metadataKey: RequestID.metadataKey] = "\(id)"
        }
        let start = DispatchTime.now().uptimeNanoseconds
        metrics.begin()
        // Clients may send any text as a method, so only the names that HTTP defines are reported.
        let method = HTTPRequest.Method.common.contains(request.method) ? request.method.rawValue : "other"
        // `ProblemMiddleware` turns every error into a response, even if the client closed the connection.
        var response = try await next(request, context)
        // Routes for GET leave out the body of a HEAD response themselves, but error responses don't.
        if request.method == .head { response = response.createHeadResponse() }
        if let field = RequestID.field { response.headers[field] = context.requestID }
        end(request, context, method: method, status: response.status.code, since: start)
        return response
    }

    /// Counts and logs a request that has ended.
    private func end(_ request: Request, _ context: ServiceContext, method: String, status: Int, since start: UInt64) {
        let seconds = Double(DispatchTime.now().uptimeNanoseconds &- start) / 1e9
        // For a path without a route, Hummingbird uses a name without a slash.
        let route = context.endpointPath.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "none"
        metrics.end(method: method, route: route, status: status, seconds: seconds)
        context.logger.info(
            "request",
            metadata: [
                "method": "\(method)", "route": "\(route)", "status": .stringConvertible(status),
                "microseconds": .stringConvertible(Int(seconds * 1e6)),
                "address": "\(context.peer?.address?.description ?? "-")",
            ])
    }
}
