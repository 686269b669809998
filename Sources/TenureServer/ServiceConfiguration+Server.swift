import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Creates the HTTP server.
extension ServiceConfiguration {
    /// Reads the TLS certificate from its files; nil if no files are configured, so that the service uses plain HTTP.
    func serverCertificate() throws(ServiceError) -> ServerCertificate? {
        try certificateFiles.map { files throws(ServiceError) in try ServerCertificate(files, now: now) }
    }

    /// Creates the server with this configuration's address and limits, and with `certificate`.
    func application<Responder: HTTPResponder>(
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
