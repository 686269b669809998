import Hummingbird
import Logging

/// Passes each request to the app in its path, as if that app were the only one.
///
/// `/apps/NAME/v1/…` is `/v1/…` of that app. The paths of the default app, or of the only app, also work without
/// `/apps/NAME`.
struct AppsResponder: HTTPResponder {
    typealias Context = ServiceContext

    let apps: RunningApps

    @Sendable func respond(to request: Request, context: ServiceContext) async throws -> Response {
        guard let routes = apps.routes else { throw AppsHandlers.notRunning(because: nil) }
        let path = request.head.path ?? ""
        if path.hasPrefix(Self.prefix) {
            let nameAndPath = path.dropFirst(Self.prefix.count)
            let name = String(nameAndPath.prefix { $0 != "/" && $0 != "?" })
            guard let responder = responder(name, routes) else {
                return try await routes.sharedResponder.respond(to: request, context: context)
            }
            var head = request.head
            head.path = String(nameAndPath.dropFirst(name.count))
            var context = context
            context.logger[metadataKey: "app"] = "\(name)"
            context.pathPrefix = Self.prefix + name
            return try await responder.respond(to: Request(head: head, body: request.body), context: context)
        }
        // The path belongs to the whole process, to the default app, or to no app.
        switch request.uri.path {
        case HealthRoutes.livePath.description, HealthRoutes.readyPath.description, "/metrics",
            AppsHandlers.listPath.description, AppsHandlers.reloadPath.description:
            return try await routes.sharedResponder.respond(to: request, context: context)
        default:
            let unprefixed = routes.unprefixedApp.flatMap { responder($0, routes) }
            return try await (unprefixed ?? routes.sharedResponder).respond(to: request, context: context)
        }
    }

    /// Returns the app's responder; nil for an unknown name.
    private func responder(_ name: String, _ routes: AppRoutes) -> RouterResponder<ServiceContext>? {
        guard let rejectingResponder = routes.rejectingResponders[name] else { return nil }
        return apps[name]?.responder ?? rejectingResponder
    }

    private static let prefix = "/apps/"
}
