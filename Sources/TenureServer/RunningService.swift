import Foundation
package import Logging
import ServiceLifecycle
package import TenureStore

/// Runs the service until `body` returns; then the service completes accepted requests.
///
/// Commands and tests call this function if they need a service for a short time.
///
/// - Parameter body: Called when clients can connect, with the port.
/// - Returns: The result of `body`.
/// - Throws: The error of `body`, or a `ServiceError` if the service doesn't start or fails.
package func withService<Result: Sendable>(
    configuration: ServiceConfiguration, store: Store? = nil, logger: Logger,
    _ body: @escaping @Sendable (_ port: Int) async throws -> Result
) async throws -> Result {
    // The service reports its port through this stream when clients can connect.
    let (ports, started) = AsyncStream.makeStream(of: Int.self)
    let application = try await buildApplication(configuration: configuration, store: store, logger: logger) {
        started.yield($0)
    }
    var settings = ServiceGroupConfiguration(services: [application], logger: logger)
    settings.maximumGracefulShutdownDuration = .seconds(configuration.timeouts.shutdown)
    let group = ServiceGroup(configuration: settings)
    return try await withThrowingTaskGroup(of: Result?.self) { tasks in
        tasks.addTask {
            // If the service ends before clients can connect, the other task must not wait for the port.
            defer { started.finish() }
            do {
                try await group.run()
            } catch is CancellationError {
                // The shutdown timeout is over.
            }
            return nil
        }
        tasks.addTask {
            for await port in ports {
                do {
                    let result = try await body(port)
                    await group.triggerGracefulShutdown()
                    return result
                } catch {
                    await group.triggerGracefulShutdown()
                    throw error
                }
            }
            throw ServiceError.failed("clients couldn't connect before the service ended; its log says why")
        }
        // The task that calls `body` returns the result. The task that runs the service returns nil when the service
        // has ended.
        var result: Result?
        while let ended = try await tasks.next() { result = ended ?? result }
        guard let result else {
            throw ServiceError.failed("the work wasn't done when the service ended; its log says why")
        }
        return result
    }
}
