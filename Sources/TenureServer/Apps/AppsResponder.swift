import HTTPTypes
import Hummingbird
import Logging
import TenureAPI

/// Gives each request to the app that its path names, as if that app were alone.
///
/// `/apps/NAME/v1/…` is `/v1/…` of that app. Where there is only one, its paths stand without a name too.
struct AppsResponder: HTTPResponder {
    typealias Context = ServiceContext

    private let first: RouterResponder<ServiceContext>
    private let responders: [String: RouterResponder<ServiceContext>]
    private let metrics: RouterResponder<ServiceContext>

    /// `first` is one of them; `metrics` answers for all.
    init(
        first: RouterResponder<ServiceContext>, all responders: [String: RouterResponder<ServiceContext>],
        metrics: RouterResponder<ServiceContext>
    ) {
        self.metrics = metrics
        self.first = first
        self.responders = responders
    }

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        let path = request.head.path ?? ""
        if path.hasPrefix(Self.prefix) {
            let rest = path.dropFirst(Self.prefix.count)
            let name = rest.prefix { $0 != "/" && $0 != "?" }
            if let responder = responders[String(name)] {
                var head = request.head
                head.path = String(rest.dropFirst(name.count))
                var context = context
                context.logger[metadataKey: "app"] = "\(name)"
                return try await responder.respond(to: Request(head: head, body: request.body), context: context)
            }
        }
        switch request.uri.path {
        // Of the process, and of every record.
        case "/health/live": return try await first.respond(to: request, context: context)
        case "/metrics": return try await metrics.respond(to: request, context: context)
        case "/health/ready":
            for responder in responders.values {
                let response = try await responder.respond(to: request, context: context)
                if response.status != .ok { return response }
            }
            return try await first.respond(to: request, context: context)
        default:
            if responders.count == 1 { return try await first.respond(to: request, context: context) }
            let problem = Response.problem(
                Problem(.notFound, "nothing is at this path; an app's paths begin with `/apps/NAME/`"))
            return request.method == .head ? problem.createHeadResponse() : problem
        }
    }

    private static let prefix = "/apps/"
}
