import Foundation
import Hummingbird
public import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import TenureStore

/// Wires the service from its configuration: the one place where parts meet.
///
/// Not public, so that who starts the service needs none of the server's modules.
///
/// Opens the record and makes keys where there are none; listens only when it runs.
/// Throws a `ServiceError` with one clear line.
func buildApplication(
    configuration: ServiceConfiguration, logger: Logger = Logger(label: "tenure"),
    onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
) async throws(ServiceError) -> some ApplicationProtocol {
    let service = try await TenureService(configuration)
    return try service.application(logger: logger, onServerRunning: onServerRunning)
}

/// Runs the service until SIGINT or SIGTERM, then finishes what it accepted and closes the record.
///
/// `onServerRunning` is told the port once clients can connect. Throws a `ServiceError` with one clear line.
public func serve(
    configuration: ServiceConfiguration, logger: Logger = Logger(label: "tenure"),
    onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
) async throws(ServiceError) {
    let application = try await buildApplication(
        configuration: configuration, logger: logger, onServerRunning: onServerRunning)
    try await run(application, configuration)
}

/// Runs several apps behind one address, that of the first; see `AppConfiguration`.
public func serve(
    apps: [AppConfiguration], logger: Logger = Logger(label: "tenure"),
    onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
) async throws(ServiceError) {
    guard let first = apps.first else { throw .apps("there is none") }
    let application = try await buildApplication(apps: apps, logger: logger, onServerRunning: onServerRunning)
    try await run(application, first.configuration)
}

private func run(
    _ application: some ApplicationProtocol, _ configuration: ServiceConfiguration
) async throws(ServiceError) {
    do {
        try await application.runService()
    } catch {
        throw ServiceError(listening: error, configuration)
    }
}

/// Wires each app as if it were alone, and one address before them.
func buildApplication(
    apps: [AppConfiguration], logger: Logger = Logger(label: "tenure"),
    onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
) async throws(ServiceError) -> some ApplicationProtocol {
    if let mistake = AppConfiguration.mistake(in: apps) { throw mistake }
    var responders: [String: RouterResponder<ServiceContext>] = [:]
    var services: [any Service] = []
    var first: (service: TenureService, responder: RouterResponder<ServiceContext>)?
    var opened: [any Store] = []
    do throws(ServiceError) {
        for app in apps {
            let service = try await TenureService(app.configuration)
            opened.append(service.store)
            var logger = logger
            logger[metadataKey: "app"] = "\(app.name)"
            let responder = try service.router().buildResponder()
            responders[app.name] = responder
            services += try service.services(logger: logger)
            if first == nil { first = (service, responder) }
        }
        guard let first else { throw .apps("there is none") }
        return first.service.application(
            AppsResponder(first: first.responder, all: responders), services: services, logger: logger,
            onServerRunning: onServerRunning)
    } catch {
        // One that does not start must not keep the others' records open.
        for store in opened { try? await store.close() }
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
        return application(
            routes.buildResponder(), services: try services(logger: logger), logger: logger,
            onServerRunning: onServerRunning)
    }

    /// What runs beside the server. Services end in reverse order: the record last, when nobody needs it any more.
    fileprivate func services(logger: Logger) throws(ServiceError) -> [any Service] {
        var services: [any Service] = [RecordService(store: store)]
        if let webhooks = try configuration.webhookServices(announcer, store: store, logger: logger) {
            services += [webhooks.announcements, webhooks.deliveries]
        }
        return services
    }

    fileprivate func application<Responder: HTTPResponder>(
        _ responder: Responder, services: [any Service], logger: Logger,
        onServerRunning: @escaping @Sendable (_ port: Int) async -> Void
    ) -> Application<Responder> where Responder.Context == ServiceContext {
        Application(
            responder: responder,
            server: .http1(configuration: .init(idleTimeout: .seconds(75))),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port), serverName: nil),
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
    let store: any Store

    func run() async throws {
        try? await gracefulShutdown()
        try await store.close()
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
