import HTTPTypes
import Hummingbird
import Logging

/// Passes each request to the app in its path, as if that app were the only one.
///
/// `/apps/NAME/v1/…` is `/v1/…` of that app. With only one app, its paths also work without a name.
struct AppsResponder: HTTPResponder {
    typealias Context = ServiceContext

    /// Nil for an unknown name.
    private let responder: @Sendable (_ app: String) -> RouterResponder<ServiceContext>?
    private let shared: RouterResponder<ServiceContext>
    /// The app with paths that work without a name.
    private let only: String?

    /// `shared` answers paths outside of all apps.
    init(
        apps: [AppConfiguration], shared: RouterResponder<ServiceContext>,
        _ responder: @escaping @Sendable (_ app: String) -> RouterResponder<ServiceContext>?
    ) {
        self.responder = responder
        self.shared = shared
        only = apps.count == 1 ? apps.first?.name : nil
    }

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        let path = request.head.path ?? ""
        if path.hasPrefix(Self.prefix) {
            let rest = path.dropFirst(Self.prefix.count)
            let name = String(rest.prefix { $0 != "/" && $0 != "?" })
            if let responder = responder(name) {
                var head = request.head
                head.path = String(rest.dropFirst(name.count))
                var context = context
                context.logger[metadataKey: "app"] = "\(name)"
                context.pathPrefix = Self.prefix + name
                return try await responder.respond(to: Request(head: head, body: request.body), context: context)
            }
        }
        switch request.uri.path {
        // These concern the whole process.
        case HealthRoutes.livePath.description, HealthRoutes.readyPath.description, "/metrics":
            return try await shared.respond(to: request, context: context)
        default:
            return try await (only.flatMap(responder) ?? shared).respond(to: request, context: context)
        }
    }

    private static let prefix = "/apps/"
}
