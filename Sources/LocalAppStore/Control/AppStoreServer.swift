import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import TenureJSON

/// Serves a local App Store on a port of this machine: its App Store Server API, and the endpoints that control it
/// (`ControlInterface`). It can also let the store's clock, the local clock, run.
package struct AppStoreServer: Sendable {
    private let store: LocalAppStore
    /// The key with which clients must sign their tokens for the App Store Server API.
    private let key: ServerAPIKey
    /// The port to listen on; 0 for any free port.
    private let port: Int
    /// The number of seconds by which the local clock advances in each real second. If 0, only operations advance it.
    private let speed: Double
    /// The share of Apple's hourly limits of requests that this server allows.
    private let rateLimitShare: Double

    /// - Parameter rateLimitShare: the share of Apple's hourly limits of requests that this server allows. 0.01 allows
    ///   one request where Apple allows 100.
    package init(store: LocalAppStore, key: ServerAPIKey, port: Int, speed: Double = 0, rateLimitShare: Double = 1) {
        self.store = store
        self.key = key
        self.port = port
        self.speed = speed
        self.rateLimitShare = rateLimitShare
    }

    /// Runs until SIGINT or SIGTERM. `onServerRunning` gets the port once clients can connect.
    package func run(onServerRunning: @escaping @Sendable (_ port: Int) async -> Void) async throws {
        do {
            try await application(onServerRunning: onServerRunning).runService()
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw PortInUse(port: port)
        }
    }

    /// The error if another process already listens on the port.
    struct PortInUse: Error, Sendable, CustomStringConvertible {
        let port: Int

        var description: String {
            "the port \(port) of this machine is in use; stop the process that listens there, or choose another port"
        }
    }

    /// Runs the server while `body` runs. `body` gets the port.
    ///
    /// Throws `PortInUse`, or what `body` throws.
    package func serve<Result: Sendable>(
        _ body: @escaping @Sendable (_ port: Int) async throws -> Result
    ) async throws -> Result {
        do {
            return try await withServer({ await application(onServerRunning: $0) }, logger: Self.logger, body)
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw PortInUse(port: port)
        }
    }

    private static var logger: Logger {
        var logger = Logger(label: "local-store")
        // Logs almost nothing: the server throws its errors, and connections that are open when the server stops aren't
        // errors.
        logger.logLevel = .critical
        return logger
    }

    /// Creates the HTTP server, which the caller runs.
    func application(
        onServerRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) async -> some ApplicationProtocol {
        let router = Router(context: BasicRequestContext.self)
        router.add(middleware: LoopbackOnly())
        let api = await ServerAPI(store: store, key: key, rateLimitShare: rateLimitShare)
        api.add(to: router)
        ControlInterface(store: store, fault: api.fault).add(to: router)
        return Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port), serverName: nil),
            services: speed > 0 ? [RunningClock(store: store, speed: speed)] : [],
            onServerRunning: { channel in await onServerRunning(channel.localAddress?.port ?? 0) }, logger: Self.logger)
    }
}

/// Advances the local clock by `speed` seconds in each real second.
private struct RunningClock: Service {
    let store: LocalAppStore
    let speed: Double

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            // Sleeping throws when the task is canceled.
            while (try? await Task.sleep(for: .seconds(1))) != nil {
                let instant = await store.state.now.addingTimeInterval(speed)
                try await store.perform(AppStoreOperation(.advance, [.to: instant.rfc3339]))
            }
        }
    }
}
