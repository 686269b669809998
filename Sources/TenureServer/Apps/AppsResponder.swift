import HTTPTypes
import Hummingbird
import Logging

/// Passes each request to the app in its path, as if that app were the only one.
///
/// `/apps/NAME/v1/…` is `/v1/…` of that app. With only one app, its paths also work without a name.
struct AppsResponder: HTTPResponder {
    typealias Context = ServiceContext

    private let first: RouterResponder<ServiceContext>
    private let responders: [String: RouterResponder<ServiceContext>]
    private let shared: RouterResponder<ServiceContext>

    /// `first` is the first app, `all` contains every app by name, and `shared` answers paths outside of all apps.
    init(
        first: RouterResponder<ServiceContext>, all responders: [String: RouterResponder<ServiceContext>],
        shared: RouterResponder<ServiceContext>
    ) {
        self.shared = shared
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
                context.pathPrefix = Self.prefix + name
                return try await responder.respond(to: Request(head: head, body: request.body), context: context)
            }
        }
        switch request.uri.path {
        // These concern the whole process; readiness also needs every app's database.
        case "/health/live": return try await first.respond(to: request, context: context)
        case "/metrics": return try await shared.respond(to: request, context: context)
        case "/health/ready":
            for responder in responders.values {
                let response = try await responder.respond(to: request, context: context)
                if response.status != .ok { return response }
            }
            return try await first.respond(to: request, context: context)
        default:
            return try await (responders.count == 1 ? first : shared).respond(to: request, context: context)
        }
    }

    private static let prefix = "/apps/"
}
