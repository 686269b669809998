import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
public import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
package import TenureStore
import UnixSignals

/// Wires the service from its configuration: the one place where parts meet.
///
/// Not public, so that who starts the service needs none of the server's modules.
///
/// Opens the record and makes keys where there are none; listens only when it runs.
/// Throws a `ServiceError` with one clear line.
func buildApplication(
    configuration: ServiceConfiguration, store: Store? = nil, logger: Logger = Logger(label: "tenure"),
    onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
) async throws(ServiceError) -> some ApplicationProtocol {
    let service = try await TenureService(configuration, store: store)
    return try service.application(logger: logger, onServerRunning: onServerRunning)
}

/// Runs the service until SIGINT or SIGTERM, then finishes what it accepted and closes the record.
///
/// `onServerRunning` is told the port once clients can connect. Throws a `ServiceError` with one clear line.
public func serve(
    configuration: ServiceConfiguration, logger: Logger = Logger(label: "tenure"),
    onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
) async throws(ServiceError) {
    try await serve(configuration: configuration, store: nil, logger: logger, onServerRunning: onServerRunning)
}

/// On the given record, whatever database holds it; the service closes it when it ends. Nil: the SQLite file that the
/// configuration names.
package func serve(
    configuration: ServiceConfiguration, store: Store?, logger: Logger,
    onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
) async throws(ServiceError) {
    OpenFiles.raiseLimit()
    CertificateReloading.beginIgnoring()
    let application = try await buildApplication(
        configuration: configuration, store: store, logger: logger, onServerRunning: onServerRunning)
    try await run(application, configuration, logger: logger)
}

/// Runs several apps behind one address, that of the first; see `AppConfiguration`.
public func serve(
    apps: [AppConfiguration], logger: Logger = Logger(label: "tenure"),
    onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
) async throws(ServiceError) {
    guard let first = apps.first else { throw .apps("there is none") }
    OpenFiles.raiseLimit()
    CertificateReloading.beginIgnoring()
    let application = try await buildApplication(apps: apps, logger: logger, onServerRunning: onServerRunning)
    try await run(application, first.configuration, logger: logger)
}

private func run(
    _ application: some ApplicationProtocol, _ configuration: ServiceConfiguration, logger: Logger
) async throws(ServiceError) {
    do {
        var group = ServiceGroupConfiguration(
            services: [application], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        // What is not finished by then is cut off: a client that never reads must not keep the service from ending.
        group.maximumGracefulShutdownDuration = .seconds(configuration.timeouts.shutdown)
        try await ServiceGroup(configuration: group).run()
    } catch is CancellationError {
        // The time to finish was over; the record is closed.
    } catch {
        throw ServiceError(listening: error, configuration)
    }
}

/// Wires each app as if it were alone, and one address before them. Apps that can't start yet are started later.
func buildApplication(
    apps: [AppConfiguration], logger: Logger = Logger(label: "tenure"),
    onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
) async throws(ServiceError) -> some ApplicationProtocol {
    if let mistake = AppConfiguration.mistake(in: apps) { throw mistake }
    let running = RunningApps(apps)
    let errors = try await running.start()
    do throws(ServiceError) {
        guard let first = apps.first else { throw .apps("there is none") }
        let runners = apps.map { app in
            var logger = logger
            logger[metadataKey: "app"] = "\(app.name)"
            return AppRunner(app: app, apps: running, logger: logger, error: errors[app.name])
        }
        return try first.configuration.application(
            running.responder(), running.metrics[first.name] ?? ServiceMetrics(),
            services: runners, logger: logger, onServerRunning: onServerRunning)
    } catch {
        // One that does not start must not keep the others' records open.
        await running.close()
        throw error
    }
}

extension TenureService {
    func application(
        logger: Logger, router: Router<ServiceContext>? = nil,
        onServerRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) throws(ServiceError) -> Application<RouterResponder<ServiceContext>> {
        let routes: Router<ServiceContext>
        if let router { routes = router } else { routes = try self.router() }
        return try configuration.application(
            routes.responder(), metrics, services: try services(logger: logger), logger: logger,
            onServerRunning: onServerRunning)
    }

    /// What runs beside the server. Services end in reverse order: the record last, when nobody needs it any more.
    func services(logger: Logger) throws(ServiceError) -> [any Service] {
        warn(logger)
        let watch = DatabaseWatch(store: store, logger: logger)
        var services: [any Service] = [
            RecordService(store: store, metrics: metrics, watch: watch, logger: logger),
            watch,
            LeftoverRemoval(store: store, now: configuration.now, logger: logger),
            EndpointRegistry(configuration: configuration, store: store, logger: logger),
            SigningKeyWatch(keys: signingKeys, now: configuration.now, logger: logger),
        ]
        if let content { services.append(ContentWatch(folder: content.folder, logger: logger)) }
        if let links = content?.s3 { services.append(S3SecretReloading(links: links, logger: logger)) }
        if let webhooks = try configuration.webhookServices(announcer, store: store, logger: logger) {
            services += [webhooks.announcements, webhooks.deliveries]
        }
        return services + (try appStoreServices(logger: logger))
    }

    /// Of a policy that was given and decides nothing, and of a copy that was saved from a replaced database.
    private func warn(_ logger: Logger) {
        if let database = configuration.databaseFile, let copy = SQLiteDatabase.savedCopy(of: database) {
            logger.warning(
                """
                `\(copy)` was saved when the database's file was replaced; restore it with `tenure database restore`, or \
                remove it if you don't need it
                """)
        }
        let present = policies.present
        guard ActivePolicy.digest(of: configuration.policy) != present.sha256 else { return }
        logger.warning(
            """
            the policy file is not what decides; publish it with `tenure policy publish`, or start with what \
            `tenure policy show \(present.version)` writes
            """, metadata: ["version": "\(present.version)"])
    }

}

extension ServiceConfiguration {
    /// The server at this configuration's address, with its certificate and limits.
    fileprivate func application<Responder: HTTPResponder>(
        _ responder: Responder, _ metrics: ServiceMetrics, services: [any Service], logger: Logger,
        onServerRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) throws(ServiceError) -> Application<Responder> where Responder.Context == ServiceContext {
        let (timeouts, limits) = (timeouts, limits)
        let connections = Connections(
            limit: connectionLimit, limitPerAddress: limits.connectionsPerAddress,
            proxies: proxies, bodyWindow: timeouts.body
        ) { metrics.closedForRoom(in: $0) }
        let plain = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [
                    HostCheckInstaller(),
                    ConnectionClock(timeouts, bodyRate: limits.bodyRate, connections: connections) {
                        metrics.closedSlowClient(at: $0)
                    },
                ],
                idleTimeout: .seconds(Int64(timeouts.idle))))
        let certificate = try certificateFiles.map { files throws(ServiceError) in
            try ServerCertificate(files, now: now)
        }
        let services = services + [CertificateReloading(certificate: certificate, logger: logger)]
        var server = plain
        if let certificate {
            do {
                server = try .tls(plain, tlsConfiguration: certificate.configuration)
            } catch {
                throw .failed("TLS cannot be set up: \(error)")
            }
        }
        BodyBudget.process.allow(bodies: limits.bodySize)
        return Application(
            responder: responder,
            server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: nil, backlog: 1024,
                availableConnectionsDelegate: connections),
            // The server ends before them, and finishes its requests first.
            services: services,
            onServerRunning: { channel in await onServerRunning(channel.localAddress?.port ?? 0) },
            eventLoopGroupProvider: .shared(eventLoops),
            logger: logger)
    }
}

/// Half as many event loops as cores: answers are made on other threads, of which there are as many as cores, and with
/// more loops they take the cores from each other (two cores: 15 % more customers per second). For the whole process,
/// so that nothing has to end them.
private let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: max(1, System.coreCount / 2))

/// Closes the record when the service ends.
private struct RecordService: Service {
    let store: Store
    let metrics: ServiceMetrics
    let watch: DatabaseWatch
    let logger: Logger

    func run() async throws {
        await withTaskCancellationHandler {
            try? await gracefulShutdown()
        } onCancel: {
            // The time to finish is over. Counted at this very moment: a little later whoever is cut off is counted no more.
            let requests = metrics.snapshot.inFlight
            guard requests > 0 else { return }
            logger.warning(
                "what was not finished in time was cut off", metadata: ["requests": .stringConvertible(requests)])
        }
        // A task of its own: where the time to finish is over, this one is cancelled, and the record closes all the same.
        let (store, watch) = (store, watch)
        let closing = Task {
            await watch.check()
            try await store.close()
        }
        try await closing.value
    }
}

extension ServiceError {
    fileprivate init(listening error: any Error, _ configuration: ServiceConfiguration) {
        let (host, port) = (configuration.host, configuration.port)
        switch error {
        case let error as ServiceError: self = error
        case let error as StoreError: self.init(error)
        case let error as IOError where error.errnoCode == EADDRINUSE: self = .portInUse(host: host, port: port)
        case let error as IOError:
            self = .cannotListen(
                host: host, port: port, detail: String(cString: strerror(error.errnoCode)).lowercased())
        default: self = .failed("\(error)")
        }
    }
}
