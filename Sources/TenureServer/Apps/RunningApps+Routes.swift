import Hummingbird

/// The responders that `AppsResponder` uses for requests that no running app answers.
struct AppRoutes: Sendable {
    /// Responds to requests for paths that belong to no app.
    let sharedResponder: RouterResponder<ServiceContext>
    /// For each app, the responder that rejects requests while the app isn't running.
    let rejectingResponders: [String: RouterResponder<ServiceContext>]
    /// The name of the app that also answers the routes without `/apps/NAME`.
    let unprefixedApp: String?
}

/// Creates the routes of a service with several apps, apart from the routes of each running app.
extension RunningApps {
    /// Returns the routes that belong to no app, and the routes that reject requests for apps that don't run.
    func routes(for configuration: AppsConfiguration) -> AppRoutes {
        AppRoutes(
            sharedResponder: sharedRouter(for: configuration).responder(),
            rejectingResponders: Dictionary(
                configuration.apps.map { ($0.name, rejectingResponder(for: $0)) },
                uniquingKeysWith: { first, _ in first }), unprefixedApp: configuration.unprefixedApp)
    }

    /// Returns the responder that rejects all requests while the app isn't running. The requests are logged, counted
    /// and limited like other requests.
    private func rejectingResponder(for app: AppConfiguration) -> RouterResponder<ServiceContext> {
        let router = app.configuration.emptyRouter(metrics(of: app.name))
        router.add(middleware: NotRunningMiddleware(name: app.name, apps: self))
        return router.responder()
    }

    /// Returns the router for paths that belong to no app.
    func sharedRouter(for configuration: AppsConfiguration) -> Router<ServiceContext> {
        let common = configuration.common
        let router = common.emptyRouter(
            sharedMetrics,
            ProblemMiddleware(
                notFoundMessage: "there is nothing at this path; the paths of an app begin with `/apps/NAME/`"))
        let handlers = AppsHandlers(apps: self, key: AdminKey(common.adminKey), now: common.now)
        router.get(HealthRoutes.livePath) { _, _ in HealthRoutes.alive }
        router.get(HealthRoutes.readyPath, use: handlers.ready)
        router.get("metrics") { [self] request, context in
            try await MetricsRoute(
                sources: sources, access: common.metrics, adminKey: AdminKey(common.adminKey), now: common.now,
                wrongKeys: wrongKeys
            ).respond(to: request, context: context)
        }
        router.get(AppsHandlers.listPath, use: handlers.list)
        router.post(AppsHandlers.reloadPath, use: handlers.reload)
        return router
    }

    /// What `/metrics` reports: the metrics that belong to no app, then the metrics of each app.
    private var sources: [MetricsSource] {
        [MetricsSource(app: nil, metrics: sharedMetrics)]
            + configuration.apps.map { app in
                self[app.name]?.service.metricsSource(of: app.name)
                    ?? MetricsSource(
                        app: app.name, metrics: metrics(of: app.name), database: app.configuration.databaseFile)
            }
    }
}

/// Rejects every request to an app that isn't running, with the reason.
private struct NotRunningMiddleware: ServiceMiddleware {
    let name: String
    let apps: RunningApps

    func handle(_ request: Request, context: ServiceContext, next: Next) async throws -> Response {
        throw AppsHandlers.notRunning(because: apps.failure(of: name))
    }
}
