import Foundation
package import Hummingbird
public import Logging
import NIOCore
import ServiceLifecycle
package import TenureStore
import UnixSignals

/// Creates the service for one app from the app's configuration.
///
/// This call opens the database and creates missing keys. The service listens only when it runs. The function isn't
/// public, so that callers of `serve` don't import Hummingbird.
package func buildApplication(
    configuration: ServiceConfiguration, store: Store? = nil, logger: Logger = Logger(label: "tenure"),
    onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
) async throws(ServiceError) -> some ApplicationProtocol {
    let service = try await TenureService(configuration, store: store)
    return try service.application(logger: logger, onServerRunning: onServerRunning)
}

/// Runs the service until SIGINT or SIGTERM. Then it completes accepted requests and closes the database.
///
/// - Parameters:
///   - configuration: The settings of the service.
///   - logger: The logger of the service.
///   - onServerRunning: Called with the port when clients can connect.
/// - Throws: The reason why the service doesn't start or why it failed, with a message for the operator.
public func serve(
    configuration: ServiceConfiguration, logger: Logger = Logger(label: "tenure"),
    onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
) async throws(ServiceError) {
    try await serve(configuration: configuration, store: nil, logger: logger, onServerRunning: onServerRunning)
}

/// Runs the service on an open database, and closes the database when the service ends. If `store` is nil, the service
/// opens the SQLite file in the configuration.
package func serve(
    configuration: ServiceConfiguration, store: Store?, logger: Logger,
    onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
) async throws(ServiceError) {
    OpenFiles.raiseLimit()
    SecretReloading.ignoreSignalUntilRunning()
    let application = try await buildApplication(
        configuration: configuration, store: store, logger: logger, onServerRunning: onServerRunning)
    try await run(application, configuration, logger: logger)
}

/// Runs several apps in one service, each with its own policy, keys and data below the path `/apps/NAME`. The service
/// listens at the address of the first app. The first app's admin key also permits the requests about all apps.
public func serve(
    apps: [AppConfiguration], logger: Logger = Logger(label: "tenure"),
    onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
) async throws(ServiceError) {
    try await serve(AppsConfiguration(apps), reread: nil, logger: logger, onServerRunning: onServerRunning)
}

/// Runs several apps. On SIGHUP, and after `POST /v1/admin/apps/reload`, `reread` reads the configuration of the apps
/// again. That request needs the admin key at the top level of the configuration.
package func serve(
    _ apps: AppsConfiguration, reread: AppsReader?, logger: Logger,
    onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
) async throws(ServiceError) {
    OpenFiles.raiseLimit()
    SecretReloading.ignoreSignalUntilRunning()
    let application = try await buildApplication(apps, reread: reread, logger: logger, onServerRunning: onServerRunning)
    try await run(application, apps.common, logger: logger)
}

/// Runs an application until SIGINT or SIGTERM, and at most the shutdown timeout longer.
private func run(
    _ application: some ApplicationProtocol, _ configuration: ServiceConfiguration, logger: Logger
) async throws(ServiceError) {
    do {
        var group = ServiceGroupConfiguration(
            services: [application], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        // Requests that take longer are aborted, because a client that never reads its response must not keep the
        // service from ending.
        group.maximumGracefulShutdownDuration = .seconds(configuration.timeouts.shutdown)
        try await ServiceGroup(configuration: group).run()
    } catch is CancellationError {
        // The shutdown timeout is over, and the database is closed.
    } catch {
        throw ServiceError(listening: error, configuration)
    }
}

/// Creates the service with several apps. Each app has the same parts as a single app, and `AppsResponder` passes the
/// requests below the app's path to the app. Apps that can't start yet are started later, but at least one app must
/// start now.
func buildApplication(
    _ apps: AppsConfiguration, reread: AppsReader? = nil, logger: Logger = Logger(label: "tenure"),
    onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
) async throws(ServiceError) -> some ApplicationProtocol {
    if let mistake = apps.mistake { throw mistake }
    let certificate = try apps.common.serverCertificate()
    let running = RunningApps(apps, certificate: certificate, reread: reread, logger: logger)
    let errors = try await running.start()
    running.makeRoutes()
    for app in apps.apps { await running.runners.add(app.name, of: running, error: errors[app.name]) }
    do throws(ServiceError) {
        return try apps.common.application(
            AppsResponder(apps: running), running.sharedMetrics, certificate,
            services: [running.runners, AppsReloading(apps: running, logger: logger)], logger: logger,
            onServerRunning: onServerRunning)
    } catch {
        // If the service doesn't start, the databases must not stay open.
        await running.close()
        throw error
    }
}

extension ServiceError {
    /// Explains an error of the running server, such as a port that is in use.
    fileprivate init(listening error: any Error, _ configuration: ServiceConfiguration) {
        let (host, port) = (configuration.host, configuration.port)
        switch error {
        case let error as IOError where error.errnoCode == EADDRINUSE: self = .portInUse(host: host, port: port)
        case let error as IOError:
            self = .cannotListen(
                host: host, port: port, detail: String(cString: strerror(error.errnoCode)).lowercased())
        default: self.init(wrapping: error)
        }
    }
}
