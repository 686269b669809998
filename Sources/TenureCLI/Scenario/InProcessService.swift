import Foundation
import LocalAppStore
import Logging
import TenureCore
import TenureMint
import TenureServer

/// A Tenure service in this process, on a port of this machine, for a scenario (a test with invented customers and
/// their purchases). It is the same as the service of `tenure serve`, with settings that make it use the local App
/// Store. Its database is deleted when the scenario ends.
actor InProcessService: EntitlementService {
    /// The path of the policy file.
    private let policy: String
    private let authority: TestAuthority
    private let logger: Logger
    /// The share of Apple's hourly request limits that the service may use.
    private let rateLimitShare: Double
    /// Changes the service's configuration before the first start, for example to shorten a pause.
    private let change: @Sendable (inout ServiceConfiguration) -> Void
    /// The runs of the service, one after the other: `start` adds a run, and `serveRuns` serves it.
    private let (runs, addedRuns) = AsyncStream.makeStream(of: Run.self)
    /// The run that was started last; nil while the service is stopped.
    private var currentRun: Run?
    /// The port of the local App Store; 0 before the local App Store runs.
    private(set) var localStorePort = 0
    /// The client of the current run of the service, or of the last one. It has no URL before the first run.
    private(set) var client = ServiceUnderTest(url: "", adminKey: nil)

    /// One run of the service, from its start to its end.
    private struct Run {
        let hasStarted = Gate()
        let shouldStop = Gate()
        let hasStopped = Gate()
    }

    /// - Parameters:
    ///   - policy: the path of the policy file.
    ///   - authority: the test authority that signs in place of Apple, and that the service trusts.
    ///   - change: changes the service's configuration before the first start.
    init(
        policy: String, authority: TestAuthority, logger: Logger, rateLimitShare: Double = 1,
        change: @escaping @Sendable (inout ServiceConfiguration) -> Void = { _ in }
    ) {
        self.policy = policy
        self.authority = authority
        self.logger = logger
        self.rateLimitShare = rateLimitShare
        self.change = change
    }

    nonisolated func withLocalStore(
        _ header: JournalHeader, signer: AppStoreSigner,
        _ body: @escaping @Sendable (LocalAppStore) async throws -> [ScenarioRun.Outcome]
    ) async throws -> [ScenarioRun.Outcome] { try await run(header.state, signer: signer, body) }

    /// Runs the local App Store and the service until `body` returns.
    nonisolated func run<Result: Sendable>(
        _ state: AppStoreState, signer: AppStoreSigner,
        _ body: @escaping @Sendable (LocalAppStore) async throws -> Result
    ) async throws -> Result {
        let folder = try ScenarioFolder.temporary(state, authority: authority)
        defer { folder.remove() }
        let clock = folder.clock
        let store = LocalAppStore(
            state, signer: signer, clock: { try? FileClock.set(clock, to: $0) },
            sender: HTTPNotificationSender.send)
        let server = AppStoreServer(store: store, key: folder.key, port: 0, rateLimitShare: rateLimitShare)
        return try await server.serve { port in
            let configuration = try await self.configuration(folder, localStorePort: port)
            await self.setLocalStorePort(port)
            return try await withThrowingTaskGroup(of: Result?.self) { tasks in
                tasks.addTask {
                    try await self.serveRuns(configuration)
                    return nil
                }
                tasks.addTask {
                    try await self.start()
                    let url = await self.client.notificationURL
                    for app in state.apps {
                        try await store.perform(AppStoreOperation(.notifyAt, [.app: app.bundleID, .url: url]))
                    }
                    let result = try await body(store)
                    await self.stop()
                    // Ends `serveRuns`.
                    self.addedRuns.finish()
                    return result
                }
                // `serveRuns` returns nil, and the other task the result.
                var result: Result?
                while let ended = try await tasks.next() { result = ended ?? result }
                guard let result else {
                    throw CommandError("the service ended before the scenario did; the reason is in its log")
                }
                return result
            }
        }
    }

    /// Returns the configuration of a service that uses the local App Store on a port.
    private func configuration(_ folder: ScenarioFolder, localStorePort: Int) throws -> ServiceConfiguration {
        var configuration = try ServiceSettings(
            arguments: ["--policy", policy, "--port", "0", "--database", folder.path + "/tenure.sqlite"]
                + folder.settings(localStorePort: localStorePort).flatMap { [$0.option, $0.value] },
            environment: [:]
        ).validConfiguration()
        change(&configuration)
        return configuration
    }

    private func setLocalStorePort(_ port: Int) { localStorePort = port }

    // MARK: Runs of the service

    /// Runs the service once for each call of `start`, always on the same port and with the same database.
    private func serveRuns(_ configuration: ServiceConfiguration) async throws {
        var configuration = configuration
        let adminKey = configuration.adminKey
        for await run in runs {
            defer { run.hasStopped.open() }
            // Copies for the closures, because they can't capture a variable that changes.
            let (settings, logger) = (configuration, logger)
            // The first run chooses a free port, which later runs use too.
            configuration.port = try await withServer(
                { try await buildApplication(configuration: settings, logger: logger, onServerRunning: $0) },
                logger: logger, shutdownTimeout: settings.timeouts.shutdown
            ) { port in
                await self.didStart(run, on: port, adminKey: adminKey)
                await run.shouldStop.wait()
                return port
            }
        }
    }

    private func didStart(_ run: Run, on port: Int, adminKey: String?) {
        client = ServiceUnderTest(url: "http://127.0.0.1:\(port)", adminKey: adminKey)
        run.hasStarted.open()
    }

    /// Starts the service. Returns when it accepts connections.
    func start() async throws {
        let run = Run()
        currentRun = run
        addedRuns.yield(run)
        await run.hasStarted.wait()
        // `wait` also returns if this task is canceled, because the service couldn't start.
        try Task.checkCancellation()
    }

    /// Stops the service. Returns when it has stopped.
    func stop() async {
        currentRun?.shouldStop.open()
        await currentRun?.hasStopped.wait()
        currentRun = nil
    }

    // MARK: Requests of scenarios

    func openApp(_ device: DeviceArtifacts, at now: Date) async throws -> [String: Decision.Outcome] {
        let outcomes = try await client.openApp(device)
        try await client.waitForHistories()
        return outcomes
    }

    func outcomes(of customer: KnownCustomer, at now: Date) async throws -> [String: Decision.Outcome]? {
        guard let id = customer.appTransactionID else { return nil }
        return try await client.customer(id)?.outcomes
    }

    /// Restarts the service, which then fetches the notifications that it missed.
    func catchUp(from store: LocalAppStore) async throws {
        let state = await store.state
        await stop()
        try await start()
        try await client.waitForNotifications(upTo: state.now, in: state.environment)
    }
}

/// A gate that opens once. Callers wait until it is open, or until their task is canceled.
final class Gate: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func open() { continuation.finish() }

    func wait() async { for await _ in stream {} }
}
