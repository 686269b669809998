package import Hummingbird
package import Logging
import ServiceLifecycle

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
            // Without a port, the server has ended before clients could connect.
            guard let port = await ports.first(where: { _ in true }) else { return nil }
            do {
                let result = try await body(port)
                await group.triggerGracefulShutdown()
                return result
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
        }
        // Only the second task has a result. Wait for both.
        var result: Result?
        while let taskResult = try await tasks.next() { result = taskResult ?? result }
        guard let result else { throw CancellationError() }
        return result
    }
}
