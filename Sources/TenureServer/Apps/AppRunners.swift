import Logging
import ServiceLifecycle
import TenureCore

/// Runs the services of all apps. Apps can be added and ended while other apps are running.
final class AppRunners: Service {
    /// The service group in which the service group of each app runs.
    private let outerGroup: ServiceGroup
    /// The service group of each app, by the app's name, until the group has ended.
    private let groups = Locked<[String: ServiceGroup]>([:])
    private let logger: Logger
    /// The seconds to complete the requests of an app that ends.
    private let shutdown: Int

    init(logger: Logger, shutdown: Int) {
        self.logger = logger
        self.shutdown = shutdown
        // A group ends when its last service ends. So that the outer group stays even without an app, one service only
        // waits for the shutdown.
        outerGroup = ServiceGroup(configuration: .init(services: [UntilShutdown()], logger: logger))
    }

    func run() async throws { try await outerGroup.run() }

    /// Adds an app. If `error` kept the app from starting, `AppRunner` starts it again later.
    func add(_ name: String, of apps: RunningApps, error: ServiceError?) async {
        var loggerOfApp = logger
        loggerOfApp[metadataKey: "app"] = "\(name)"
        let runner = AppRunner(name: name, apps: apps, logger: loggerOfApp, error: error)
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: runner, successTerminationBehavior: .gracefullyShutdownGroup)], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(shutdown)
        let group = ServiceGroup(configuration: configuration)
        groups.withLock { $0[name] = group }
        let appGroup = AppGroup(group: group) { [self] in groups.withLock { $0[name] = nil } }
        await outerGroup.addServiceUnlessShutdown(.init(service: appGroup, successTerminationBehavior: .ignore))
    }

    /// Waits until the requests of an app that is no longer configured are complete, but not longer than the shutdown
    /// timeout. Then closes the app's database.
    func end(_ name: String, _ metrics: ServiceMetrics) async {
        guard let group = groups.withLock({ $0[name] }) else { return }
        let limit = ContinuousClock.now + .seconds(shutdown)
        while metrics.requestsInFlight > 0, ContinuousClock.now < limit, !Task.isCancelled { await pause() }
        await group.triggerGracefulShutdown()
        while groups.withLock({ $0[name] }) != nil, !Task.isCancelled { await pause() }
    }

    private func pause() async { try? await Task.sleep(for: .milliseconds(20)) }

    private struct UntilShutdown: Service {
        func run() async throws { try await gracefulShutdown() }
    }

    /// Runs the group of one app, and calls `onEnd` when the group has ended.
    private struct AppGroup: Service {
        let group: ServiceGroup
        let onEnd: @Sendable () -> Void

        func run() async throws {
            defer { onEnd() }
            // A failed app must not end the other apps. `AppRunner` has logged why it failed.
            try? await group.run()
        }
    }
}

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
        var reported: ServiceError?
        if let error { report(error, &reported) }
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
                if reported != nil { logger.notice("the app is running") }
                reported = nil
                let services =
                    running.service.databaseServices(logger: logger)
                    + [AppServices(name: name, apps: apps, logger: logger)]
                defer { apps.remove(name) }
                try await ServiceGroup(configuration: .init(services: services, logger: logger)).run()
            } catch is CancellationError {
                return
            } catch {
                report(ServiceError(wrapping: error), &reported)
            }
        }
    }

    /// Logs why the app doesn't run, once for each reason.
    private func report(_ error: ServiceError, _ reported: inout ServiceError?) {
        apps.record(failure: error, of: name)
        guard error != reported else { return }
        reported = error
        logger.error("the app isn't running; trying again every \(Self.pause)", metadata: ["detail": "\(error)"])
    }
}

/// Runs the services that depend on an app's configuration. When the configuration is replaced, ends these services and
/// runs the services of the new configuration. The database isn't closed meanwhile.
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
