import HTTPTypes
import Hummingbird
import TenureAPI

extension RunningApps {
    /// Passes requests to the apps that run, and refuses those to the others.
    func responder() throws(ServiceError) -> AppsResponder {
        guard let shared = sharedResponder() else { throw .apps("there is no app; add one below `apps`") }
        let stopped = Dictionary(
            configurations.map { ($0.name, refusing(for: $0)) }, uniquingKeysWith: { first, _ in first })
        return AppsResponder(apps: configurations, shared: shared) { [self] name in
            self[name]?.responder ?? stopped[name]
        }
    }

    /// Answers for an app that doesn't run. Its requests are logged, counted and limited like others.
    private func refusing(for app: AppConfiguration) -> RouterResponder<ServiceContext> {
        let router = router(for: app.configuration, metrics[app.name] ?? ServiceMetrics())
        router.add(middleware: Refusal(problem: AppsHealth.notRunning))
        return router.responder()
    }

    /// Answers what is of no app, under the settings of the first one.
    private func sharedResponder() -> RouterResponder<ServiceContext>? {
        guard let first = configurations.first else { return nil }
        let configuration = first.configuration
        let router = router(
            for: configuration, metrics[first.name] ?? ServiceMetrics(),
            nothingHere: "there is nothing at this path; the paths of an app begin with `/apps/NAME/`")
        let health = AppsHealth(apps: self)
        router.get(HealthRoutes.livePath) { _, _ in HealthRoutes.alive }
        router.get(HealthRoutes.readyPath, use: health.ready)
        let tries = WrongKeyLimit()
        router.get("metrics") { [self] request, context in
            try await MetricsRoute(
                sources: sources, access: configuration.metrics, adminKey: AdminKey(configuration.adminKey),
                tries: tries
            ).respond(to: request, context: context)
        }
        return router.responder()
    }

    private func router(
        for configuration: ServiceConfiguration, _ metrics: ServiceMetrics, nothingHere: String? = nil
    ) -> Router<ServiceContext> {
        let router = Router<ServiceContext>.empty
        router.add(
            middleware: AccessMiddleware(proxies: configuration.proxies, metrics: metrics, bodies: configuration.bodies)
        )
        router.add(middleware: nothingHere.map { ProblemMiddleware(nothingHere: $0) } ?? ProblemMiddleware())
        router.add(middleware: RateLimitMiddleware(configuration))
        router.add(middleware: PathSpelling())
        return router
    }

    private var sources: [MetricsSource] {
        configurations.map { app in
            self[app.name]?.service.metricsSource(of: app.name)
                ?? MetricsSource(
                    app: app.name, metrics: metrics[app.name] ?? ServiceMetrics(),
                    store: nil, database: app.configuration.databaseFile, signingKeys: nil, webhooks: [],
                    environments: nil)
        }
    }
}

/// Refuses every request.
private struct Refusal: RouterMiddleware {
    typealias Context = ServiceContext

    let problem: Problem

    func handle(
        _ request: Request, context: ServiceContext, next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response { throw problem }
}
