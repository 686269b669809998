import Foundation
import LocalAppStore
import Logging
import TenureAppStore
import TenureCore
import TenureMint
import TenureServer

/// A service in this process, like that of `tenure serve`, on a port of this machine. Only its settings make it use the
/// local App Store. Its database is deleted when the scenario ends.
actor OwnService: EntitlementService {
    private let policy: String
    private let authority: TestAuthority
    private let logger: Logger
    /// The share of Apple's hourly request limits that the service may use.
    private let rateLimitShare: Double
    private let change: @Sendable (inout ServiceConfiguration) -> Void
    private let (lives, births) = AsyncStream.makeStream(of: Life.self)
    private var life: Life?
    private(set) var localStorePort = 0
    private var client = RehearsedService(url: "", adminKey: nil)

    /// One run of the service, from its start to its end.
    private struct Life {
        let started = Gate()
        let end = Gate()
        let ended = Gate()
    }

    /// - Parameter policy: the path of the policy file.
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

    nonisolated func accompany(
        _ header: JournalHeader, signer: AppStoreSigner,
        _ story: @escaping @Sendable (LocalAppStore) async throws -> [ScenarioRun.Outcome]
    ) async throws -> [ScenarioRun.Outcome] { try await run(header.state, signer: signer, story) }

    /// Runs the local App Store and the service until `body` returns.
    nonisolated func run<Result: Sendable>(
        _ state: AppStoreState, signer: AppStoreSigner,
        _ body: @escaping @Sendable (LocalAppStore) async throws -> Result
    ) async throws -> Result {
        let folder = try RehearsalFolder.temporary(state, authority: authority)
        defer { folder.remove() }
        let clock = folder.clock
        let store = LocalAppStore(
            state, signer: signer, clock: { try? RehearsalClock.set(clock, to: $0) },
            sender: HTTPNotificationSender().send)
        let server = AppStoreServer(store: store, key: folder.key, port: 0, rateLimitShare: rateLimitShare)
        return try await server.serve { port in
            let configuration = try await self.configuration(folder, localStorePort: port)
            await self.keep(localStorePort: port)
            return try await withThrowingTaskGroup(of: Result?.self) { tasks in
                tasks.addTask {
                    try await self.live(configuration)
                    return nil
                }
                tasks.addTask {
                    try await self.begin()
                    let url = await self.client.notificationURL
                    for app in state.apps {
                        try await store.perform(AppStoreOperation(.notifyAt, [.app: app.bundleID, .url: url]))
                    }
                    let result = try await body(store)
                    await self.end()
                    await self.finish()
                    return result
                }
                var result: Result?
                while let ended = try await tasks.next() { result = ended ?? result }
                guard let result else {
                    throw CommandError("the service ended before the scenario did; the reason is in its log")
                }
                return result
            }
        }
    }

    private func configuration(_ folder: RehearsalFolder, localStorePort: Int) throws -> ServiceConfiguration {
        let settings = try ServiceSettings(
            arguments: ["--policy", policy, "--port", "0", "--database", folder.path + "/tenure.sqlite"]
                + folder.settings(localStorePort: localStorePort).flatMap { [$0.option, $0.value] },
            environment: [:])
        guard settings.mistakes.isEmpty, var configuration = settings.configuration else {
            throw CommandError(settings.mistakes.joined(separator: "\n"))
        }
        change(&configuration)
        return configuration
    }

    // MARK: Runs of the service

    /// Runs the service again after each restart, on the same port and with the same database.
    private func live(_ configuration: ServiceConfiguration) async throws {
        var configuration = configuration
        let adminKey = configuration.adminKey
        for await life in lives {
            defer { life.ended.open() }
            configuration.port = try await withService(configuration: configuration, logger: logger) { port in
                await self.start(life, on: port, adminKey)
                await life.end.wait()
                return port
            }
        }
    }

    private func start(_ life: Life, on port: Int, _ adminKey: String?) {
        client = RehearsedService(url: "http://127.0.0.1:\(port)", adminKey: adminKey)
        life.started.open()
    }

    func begin() async throws {
        let life = Life()
        self.life = life
        births.yield(life)
        await life.started.wait()
        try Task.checkCancellation()
    }

    func end() async {
        life?.end.open()
        await life?.ended.wait()
        life = nil
    }

    private func finish() { births.finish() }

    private func keep(localStorePort: Int) { self.localStorePort = localStorePort }

    var running: RehearsedService { client }

    // MARK: Requests of scenarios

    func open(_ device: DeviceArtifacts, at now: Date) async throws -> [String: Decision.Outcome] {
        let outcomes = try await client.open(device)
        try await client.settle()
        return outcomes
    }

    func known(_ customer: KnownCustomer, at now: Date) async throws -> [String: Decision.Outcome]? {
        guard let id = customer.appTransactionID else { return nil }
        return try await client.customer(id)?.outcomes
    }

    /// Restarts the service, which then fetches the notifications that it missed.
    func catchUp(from store: LocalAppStore) async throws {
        let state = await store.state
        await end()
        try await begin()
        try await client.caughtUp(to: state.now, in: state.environment)
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
