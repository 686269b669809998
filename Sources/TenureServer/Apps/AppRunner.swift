import Logging
import ServiceLifecycle

/// Runs the services of one app, and starts the app again whenever it can't run.
struct AppRunner: Service {
    let app: AppConfiguration
    let apps: RunningApps
    let logger: Logger
    /// Why it didn't start with the process.
    let error: ServiceError?

    private static let pause = Duration.seconds(5)

    func run() async throws {
        var reported: ServiceError?
        if let error { report(error, &reported) }
        var isFirst = error == nil
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            if !isFirst {
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.pause) }
                guard !Task.isShuttingDownGracefully, !Task.isCancelled else { return }
            }
            isFirst = false
            do {
                let running = try await apps.start(app)
                if reported != nil { logger.notice("the app runs") }
                reported = nil
                let services = try running.service.services(logger: logger)
                defer { apps.remove(app.name) }
                try await ServiceGroup(configuration: .init(services: services, logger: logger)).run()
            } catch is CancellationError {
                return
            } catch {
                report(error as? ServiceError ?? .failed("\(error)"), &reported)
            }
        }
    }

    /// Logs why the app doesn't run, once for each reason.
    private func report(_ error: ServiceError, _ reported: inout ServiceError?) {
        guard error != reported else { return }
        reported = error
        logger.error("the app doesn't run, and is started again every \(Self.pause)", metadata: ["detail": "\(error)"])
    }
}
