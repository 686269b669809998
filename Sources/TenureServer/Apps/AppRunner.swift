import Logging
import ServiceLifecycle

/// Runs the services of one of several apps. If the app can't start or fails, tries again every few seconds.
struct AppRunner: Service {
    let name: String
    let apps: RunningApps
    let logger: Logger
    /// Why the app couldn't start with the process; nil if the app started.
    let error: ServiceError?

    /// The time between two attempts to start the app.
    private static let pause = Swift.Duration.seconds(5)

    func run() async throws {
        var lastReported: ServiceError?
        if let error { report(error, &lastReported) }
        // If the app started with the process, its services run at once. Otherwise, the app is started again after a
        // pause.
        var startsAtOnce = error == nil
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            if !startsAtOnce {
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.pause) }
                guard !Task.isShuttingDownGracefully, !Task.isCancelled else { return }
            }
            startsAtOnce = false
            do {
                let running = try await apps.start(name)
                if lastReported != nil { logger.notice("the app is running") }
                lastReported = nil
                let services =
                    running.service.databaseServices(logger: logger)
                    + [AppServices(name: name, apps: apps, logger: logger)]
                defer { apps.remove(name) }
                try await ServiceGroup(configuration: .init(services: services, logger: logger)).run()
            } catch is CancellationError {
                return
            } catch {
                report(ServiceError(wrapping: error), &lastReported)
            }
        }
    }

    /// Records why the app doesn't run. Logs the error, unless it is the error that was logged last.
    private func report(_ error: ServiceError, _ lastReported: inout ServiceError?) {
        apps.record(failure: error, of: name)
        guard error != lastReported else { return }
        lastReported = error
        logger.error("the app isn't running; trying again every \(Self.pause)", metadata: ["detail": "\(error)"])
    }
}

/// Runs the services that depend on an app's configuration. When `RunningApps.reload` has replaced the configuration
/// and ended these services, runs the services of the new configuration. The database isn't closed meanwhile.
private struct AppServices: Service {
    let name: String
    let apps: RunningApps
    let logger: Logger

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled, let app = apps[name] {
            let services = try app.service.configuredServices(logger: logger)
            let group = ServiceGroup(configuration: .init(services: services, logger: logger))
            if apps.record(group: group, of: app, named: name) { try await group.run() }
        }
    }
}
