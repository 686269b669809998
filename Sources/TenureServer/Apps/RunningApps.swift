import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import TenureCore
import TenureStore

/// The apps of one process. Each app runs as soon as its database can be used, even if other apps can't start.
final class RunningApps: Sendable {
    /// An app with an open database.
    struct RunningApp: Sendable {
        let service: TenureService
        /// Answers the requests for this app.
        let responder: RouterResponder<ServiceContext>
        /// A new ID for each start and each reloaded configuration, to notice whether the app was replaced.
        fileprivate let id = UUID()
        /// The group that runs the app's services; nil until the services start.
        fileprivate var group: ServiceGroup?
    }

    private struct State {
        var configuration: AppsConfiguration
        /// The number of the configuration, which grows with each reload.
        var generation = 0
        /// The routes that belong to no running app; nil until `makeRoutes`.
        var routes: AppRoutes?
        /// The running apps, by name.
        var running: [String: RunningApp] = [:]
        /// The metrics of each app, even while it isn't running.
        var metrics: [String: ServiceMetrics] = [:]
        /// Why apps aren't running, by name.
        var failures: [String: ServiceError] = [:]
    }

    private let state: Locked<State>
    /// The downloads in progress of all apps. All apps share one limit, because they share the process's connections.
    private let downloads: Downloads
    /// Counts wrong admin keys in requests to the shared routes, which belong to no app.
    let wrongKeys = WrongKeyLimit()
    /// The metrics that belong to no app: connections, the certificate, and requests to shared routes.
    let sharedMetrics = ServiceMetrics()
    /// The TLS certificate; nil if the service doesn't use TLS.
    let certificate: ServerCertificate?
    /// Reads the configuration again; nil if it isn't in a file.
    let reread: AppsReader?
    let isReloading = Locked(false)
    /// Runs the services of each app.
    let runners: AppRunners
    let logger: Logger

    init(
        _ configuration: AppsConfiguration, certificate: ServerCertificate? = nil, reread: AppsReader? = nil,
        logger: Logger
    ) {
        state = Locked(State(configuration: configuration))
        downloads = configuration.common.downloads
        self.certificate = certificate
        self.reread = reread
        self.logger = logger
        runners = AppRunners(logger: logger, shutdown: configuration.common.timeouts.shutdown)
    }

    /// The configuration in use.
    var configuration: AppsConfiguration { state.withLock { $0.configuration } }
    /// The routes of the configuration in use; nil until `makeRoutes`.
    var routes: AppRoutes? { state.withLock { $0.routes } }

    /// The running app with this name; nil if the app isn't running.
    subscript(name: String) -> RunningApp? { state.withLock { $0.running[name] } }

    /// Returns why the app isn't running; nil if the app is running or wasn't started yet.
    func failure(of name: String) -> ServiceError? { state.withLock { $0.failures[name] } }

    /// Stores why an app isn't running. The failure is nil if the app is running or isn't configured anymore.
    func record(failure: ServiceError?, of name: String) { state.withLock { $0.failures[name] = failure } }

    /// Returns the metrics of an app. The first call for an app creates them. If the service starts the app again, it
    /// keeps them.
    func metrics(of name: String) -> ServiceMetrics {
        state.withLock { state in
            let metrics = state.metrics[name] ?? ServiceMetrics()
            state.metrics[name] = metrics
            return metrics
        }
    }

    /// Starts every app that can start. Returns the errors of the other apps, by app name. Throws if no app can start.
    func start() async throws(ServiceError) -> [String: ServiceError] {
        let apps = configuration.apps
        let errors = await start(apps)
        if errors.count == apps.count {
            throw apps.lazy.compactMap { errors[$0.name] }.first
                ?? .apps("no app is configured; add an app below `apps`")
        }
        return errors
    }

    /// Starts these apps. Returns the errors of the apps that can't start, by app name.
    func start(_ apps: [AppConfiguration]) async -> [String: ServiceError] {
        let generation = state.withLock { $0.generation }
        let results = await withTaskGroup(of: (name: String, result: Result<RunningApp, ServiceError>).self) { group in
            for app in apps {
                group.addTask {
                    do throws(ServiceError) {
                        return (app.name, .success(try await self.open(app)))
                    } catch {
                        return (app.name, .failure(error))
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.name] = $1.result }
        }
        var errors: [String: ServiceError] = [:]
        // The apps are registered in the order of the configuration. If two of them use the same database, the first
        // one runs.
        for app in apps {
            do throws(ServiceError) {
                guard let opened = try results[app.name]?.get() else { continue }
                try await register(opened, as: app.name, under: generation)
            } catch {
                errors[app.name] = error
                record(failure: error, of: app.name)
            }
        }
        return errors
    }

    /// Returns the app with this name. Starts the app if it isn't running.
    func start(_ name: String) async throws(ServiceError) -> RunningApp {
        if let running = self[name] { return running }
        let (configuration, generation) = state.withLock { ($0.configuration, $0.generation) }
        guard let app = configuration[name] else {
            throw .app(name: name, "the configuration doesn't have this app anymore")
        }
        let opened = try await open(app)
        try await register(opened, as: name, under: generation)
        return opened
    }

    /// Stores the group that runs an app's services, and returns true. If the app was replaced or removed meanwhile,
    /// stores nothing and returns false.
    func record(group: ServiceGroup, of app: RunningApp, named name: String) -> Bool {
        state.withLock { state in
            guard state.running[name]?.id == app.id else { return false }
            state.running[name]?.group = group
            return true
        }
    }

    /// Removes an app after its services ended and its database was closed.
    func remove(_ name: String) { state.withLock { $0.running[name] = nil } }

    /// Closes all databases, because the process can't start.
    func close() async {
        for app in state.withLock({ $0.running.values.map(\.service) }) { try? await app.store.close() }
    }

    /// Creates the routes of the configuration. Until then, every request is rejected with the status 503.
    func makeRoutes() {
        let routes = routes(for: configuration)
        state.withLock { $0.routes = routes }
    }

    /// Uses a new configuration for all requests from now on.
    ///
    /// - Parameter replacements: For each running app, its name, the app as it runs now, and its replacement under the
    ///   new configuration.
    /// - Returns: The services of the replaced apps, for the caller to end.
    func useConfiguration(
        _ configuration: AppsConfiguration, routes: AppRoutes,
        replacements: [(name: String, old: RunningApp, new: RunningApp)]
    ) -> [ServiceGroup] {
        state.withLock { state in
            state.configuration = configuration
            state.generation += 1
            state.routes = routes
            return replacements.compactMap { name, old, new in
                // If the app failed meanwhile, its database is closed, and it starts again under the new configuration.
                guard let present = state.running[name], present.id == old.id else { return nil }
                state.running[name] = new
                return present.group
            }
        }
    }

    /// Opens the database of an app and creates the app's service. Closes the database if that fails.
    private func open(_ app: AppConfiguration) async throws(ServiceError) -> RunningApp {
        let store: Store
        do {
            store = try await app.openStore?(app.configuration) ?? TenureService.openStore(app.configuration)
        } catch {
            throw ServiceError(wrapping: error)
        }
        do throws(ServiceError) {
            return try await makeApp(app, store, registeringWebhooks: true)
        } catch {
            // An app that doesn't start must not keep its database open.
            try? await store.close()
            throw error
        }
    }

    /// Creates the service and the routes of an app on its open database. An app that is already running stays
    /// unchanged until `useConfiguration` replaces it with the result.
    ///
    /// - Parameter registeringWebhooks: Whether to store the configured webhooks in the database, so that changes queue
    ///   messages for them.
    func makeApp(
        _ app: AppConfiguration, _ store: Store, registeringWebhooks: Bool
    ) async throws(ServiceError) -> RunningApp {
        BodyBudget.process.allow(bodiesOf: app.configuration.limits.bodySize)
        let service = try await TenureService(
            app.configuration, store: store, downloads: downloads, metrics: metrics(of: app.name),
            registeringWebhooks: registeringWebhooks)
        return RunningApp(service: service, responder: try service.router().responder())
    }

    /// Adds an app to the running apps. If another app uses the same database, or the configuration changed meanwhile,
    /// closes the app's database and throws.
    ///
    /// - Parameter generation: The number of the configuration with which the app was opened.
    private func register(_ app: RunningApp, as name: String, under generation: Int) async throws(ServiceError) {
        let id = app.service.store.databaseID
        let refusal = state.withLock { state -> String? in
            guard state.generation == generation else { return "the configuration changed while the app started" }
            if let other = state.running.first(where: { $0.value.service.store.databaseID == id })?.key {
                return "the app uses the same database as the app `\(other)`; give each app its own"
            }
            state.running[name] = app
            state.failures[name] = nil
            // The database exists now. If `createsDatabase` stayed true, the existing database would be an error when
            // the app starts again.
            if let index = state.configuration.apps.firstIndex(where: { $0.name == name }) {
                state.configuration.apps[index].configuration.createsDatabase = false
            }
            return nil
        }
        guard let refusal else { return }
        try? await app.service.store.close()
        throw .app(name: name, refusal)
    }
}
