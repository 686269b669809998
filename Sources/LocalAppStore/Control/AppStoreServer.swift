import Foundation
package import Hummingbird
package import Logging
import NIOCore
import ServiceLifecycle
import TenureCore
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

/// Runs an HTTP server while `body` runs, then shuts it down gracefully.
///
/// Don't cancel the task of a server instead: SwiftNIO traps when a canceled server has accepted a connection that it
/// doesn't serve yet (https://github.com/apple/swift-nio/issues/2637).
///
/// - Parameters:
///   - application: Makes the server, which must call the closure with its port once clients can connect.
///   - shutdownTimeout: how many seconds the server may take to shut down. Then it ends, even if clients keep requests
///     open.
///   - body: Gets the port.
/// - Throws: What the server or `body` throws, or `CancellationError` if the server ends before `body` returns.
package func withServer<Result: Sendable>(
    _ application: (@escaping @Sendable (_ port: Int) async -> Void) async throws -> some ApplicationProtocol,
    logger: Logger = Logger(label: "server") { _ in SwiftLogNoOpLogHandler() }, shutdownTimeout: Int = 10,
    _ body: @escaping @Sendable (_ port: Int) async throws -> Result
) async throws -> Result {
    let (ports, started) = AsyncStream.makeStream(of: Int.self)
    var configuration = ServiceGroupConfiguration(
        services: [try await application { started.yield($0) }], logger: logger)
    configuration.maximumGracefulShutdownDuration = .seconds(shutdownTimeout)
    let group = ServiceGroup(configuration: configuration)
    return try await withThrowingTaskGroup(of: Result?.self) { tasks in
        tasks.addTask {
            // If the server can't listen, the second task must not wait for a port forever.
            defer { started.finish() }
            do {
                try await group.run()
            } catch is CancellationError {
                // The timeout for the shutdown has passed.
            }
            return nil
        }
        tasks.addTask {
            for await port in ports {
                let result: Result
                do {
                    result = try await body(port)
                } catch {
                    await group.triggerGracefulShutdown()
                    throw error
                }
                await group.triggerGracefulShutdown()
                return result
            }
            return nil
        }
        var result: Result?
        while let ended = try await tasks.next() { result = ended ?? result }
        guard let result else { throw CancellationError() }
        return result
    }
}
