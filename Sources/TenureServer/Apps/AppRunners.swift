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
