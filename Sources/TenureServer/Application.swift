import Foundation
package import Hummingbird
import HummingbirdCore
import HummingbirdTLS
public import Logging
import NIOCore
import NIOPosix
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

extension TenureService {
    /// Returns the application of a service with one app: the server and the other services that run as long as the
    /// process.
    ///
    /// - Parameter router: The routes; nil for the routes of `router()`.
    func application(
        logger: Logger, router: Router<ServiceContext>? = nil,
        onServerRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) throws(ServiceError) -> Application<RouterResponder<ServiceContext>> {
        let routes = if let router { router } else { try self.router() }
        let certificate = try configuration.serverCertificate()
        let reloading = SecretReloading(certificate: certificate, bucket: content?.s3, metrics: metrics, logger: logger)
        let services = databaseServices(logger: logger) + (try configuredServices(logger: logger)) + [reloading]
        return try configuration.application(
            routes.responder(), metrics, certificate, services: services, logger: logger,
            onServerRunning: onServerRunning)
    }

    /// The services that run as long as the database is open, in addition to the server. Services end in reverse order,
    /// so the database closes last.
    func databaseServices(logger: Logger) -> [any Service] {
        let watch = DatabaseWatch(store: store, logger: logger)
        return [
            DatabaseClosing(store: store, metrics: metrics, watch: watch, logger: logger),
            watch,
            LeftoverRemoval(store: store, now: configuration.now, logger: logger),
            LogClearing(store: store),
        ]
    }

    /// Returns the services that depend on the configuration: webhooks, content, signing keys and the App Store. Logs
    /// warnings about the configuration.
    func configuredServices(logger: Logger) throws(ServiceError) -> [any Service] {
        logWarnings(logger)
        var services: [any Service] = [
            EndpointRegistry(configuration: configuration, store: store, logger: logger),
            SigningKeyWatch(keys: signingKeys, agreement: keyAgreement, now: configuration.now, logger: logger),
        ]
        if let content { services.append(ContentWatch(folder: content.folder, logger: logger)) }
        if let webhooks = try configuration.webhookServices(
            entitlementComparer, store: store, metrics: metrics, logger: logger)
        {
            services += [webhooks.entitlementChanges, webhooks.deliveries]
        }
        // Services end in reverse order, so the transport ends after the jobs that send requests through it.
        if let jobs = try appStoreJobs(logger: logger) { services += [http, jobs.histories, jobs.notifications] }
        return services
    }

    /// Warns if the policy file isn't the policy in effect, and if there is a copy of a database file that was
    /// replaced.
    private func logWarnings(_ logger: Logger) {
        if let database = configuration.databaseFile, let copy = SQLiteDatabase.savedCopy(of: database) {
            logger.warning(
                """
                `\(copy)` was saved when the database's file was replaced; restore it with `tenure database restore`, or \
                remove it if you don't need it
                """)
        }
        let inEffect = policies.inEffect
        guard ActivePolicy.digest(of: configuration.policy) != inEffect.sha256 else { return }
        logger.warning(
            """
            the policy file isn't the policy in effect; publish it with `tenure policy publish`, or replace it with the \
            output of `tenure policy show \(inEffect.version)`
            """, metadata: ["version": "\(inEffect.version)"])
    }
}

extension ServiceConfiguration {
    /// Reads the TLS certificate from its files; nil if no files are configured, so that the service uses plain HTTP.
    fileprivate func serverCertificate() throws(ServiceError) -> ServerCertificate? {
        try certificateFiles.map { files throws(ServiceError) in try ServerCertificate(files, now: now) }
    }

    /// Creates the server with this configuration's address and limits, and with `certificate`.
    fileprivate func application<Responder: HTTPResponder>(
        _ responder: Responder, _ metrics: ServiceMetrics, _ certificate: ServerCertificate?, services: [any Service],
        logger: Logger, onServerRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) throws(ServiceError) -> Application<Responder> where Responder.Context == ServiceContext {
        // Each connection gets a handler that checks the heads of requests, and a handler that enforces timeouts and
        // limits.
        let (timeouts, limits) = (timeouts, limits)
        let connections = Connections(
            limit: connectionLimit, limitPerAddress: limits.connectionsPerAddress, proxies: proxies,
            bodyWindow: timeouts.body
        ) { metrics.closedForRoom(in: $0) }
        let plain = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [
                    RequestHeadCheckInstaller(),
                    ConnectionHandler(timeouts, bodyRate: limits.bodyRate, connections: connections) {
                        metrics.closedSlowClient(at: $0)
                    },
                ], idleTimeout: .seconds(Int64(timeouts.idle))))
        var server = plain
        if let certificate {
            do {
                server = try .tls(plain, tlsConfiguration: certificate.configuration)
            } catch {
                throw .failed("TLS can't be set up: \(error)")
            }
        }
        BodyBudget.process.allow(bodiesOf: limits.bodySize)
        return Application(
            responder: responder, server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: nil, backlog: 1024,
                availableConnectionsDelegate: connections),
            // The server completes its requests and ends before these services end.
            services: services, onServerRunning: { channel in await onServerRunning(channel.localAddress?.port ?? 0) },
            eventLoopGroupProvider: .shared(eventLoops), logger: logger)
    }
}

/// The event loops of the process, half as many as cores. Responses are made on Swift's own threads, as many as cores.
/// With more event loops, the threads compete for cores: on two cores, one loop served 15 % more customers per second
/// than two. The event loops never end, because they are needed as long as the process runs.
private let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: max(1, System.coreCount / 2))

/// Closes the database when the service ends. Logs how many requests were aborted by the shutdown timeout.
private struct DatabaseClosing: Service {
    let store: Store
    let metrics: ServiceMetrics
    let watch: DatabaseWatch
    let logger: Logger

    func run() async throws {
        await withTaskCancellationHandler {
            try? await gracefulShutdown()
        } onCancel: {
            // The shutdown timeout is over. The requests in progress are counted now, because the service is about to
            // abort them.
            let requests = metrics.requestsInFlight
            guard requests > 0 else { return }
            logger.warning(
                "requests that didn't complete within the shutdown timeout were aborted",
                metadata: ["requests": .stringConvertible(requests)])
        }
        // A separate task closes the database, because this task is canceled after the shutdown timeout.
        let closing = Task { [store, watch] in
            await watch.check()
            try await store.close()
        }
        try await closing.value
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

/// Reloads the TLS certificate, and the secrets of the S3 bucket that has the content, on SIGHUP, until the service
/// ends. If neither is configured, the signal has no effect, except at a terminal: there, the signal means that the
/// terminal was closed, and ends the process.
struct SecretReloading: Service {
    let certificate: ServerCertificate?
    let bucket: S3Links?
    let metrics: ServiceMetrics
    let logger: Logger

    /// Ignores SIGHUP until this service runs, because by default the signal ends the process. At a terminal, the
    /// signal isn't ignored.
    static func ignoreSignalUntilRunning() { if !hasTerminal { signal(SIGHUP, SIG_IGN) } }

    /// Whether a person started the process at a terminal.
    static let hasTerminal = isatty(STDIN_FILENO) == 1

    func run() async throws {
        certificate?.report(to: metrics)
        let hasEffect = certificate != nil || bucket != nil
        if !hasEffect, Self.hasTerminal { return try await gracefulShutdown() }
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            if !hasEffect {
                logger.info("SIGHUP has no effect, because neither a TLS certificate nor a bucket is configured")
            }
            certificate?.reload(metrics, logger)
            guard let bucket else { continue }
            do throws(ServiceError) {
                try bucket.reload()
                logger.info("reloaded the secrets of the bucket")
            } catch {
                logger.error(
                    "the new secrets of the bucket are invalid; the previous ones stay in use",
                    metadata: ["detail": "\(error.description)"])
            }
        }
    }
}
