import ArgumentParser
import CommandRunner
import Foundation
import LocalAppStore
import Logging
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenurePolicyFile
import TenureServer

@testable import TenureCLI

/// Runs a service for 300 days beside the local App Store with a population of customers, then compares what the
/// service answers with the App Store's own state.
struct PopulationRun {
    private var population: Population
    private var random = SeededRandom(seed: 7)
    private let policy: Policy
    private let clock = ContinuousClock()
    private let begin = ContinuousClock.now
    private var compared = 0
    private var differences: [String] = []

    /// The differences between the service and the App Store at the end of the run.
    struct Result: Sendable {
        /// The number of compared answers.
        let compared: Int
        /// One line for each wrong answer.
        let differences: [String]
        /// How many times each operation happened.
        let happened: [String: Int]
    }

    /// What fails on a day of the run.
    private enum Fault {
        /// Notifications are acknowledged and lost.
        case swallowing
        /// Notifications don't arrive.
        case networkDown
        case networkUp
        case serviceDown
        /// The service starts again, while the App Store's own servers fail.
        case serviceUp
    }

    /// By day of the service.
    private static let faults: [Int: Fault] = [
        40: .swallowing, 46: .networkUp, 90: .serviceDown, 101: .serviceUp, 140: .networkDown, 142: .networkUp,
        180: .serviceDown, 181: .serviceUp, 240: .networkDown, 243: .networkUp,
    ]
    /// Of a thousand notifications, how many get lost on a day without a fault.
    private static let losing = 10
    /// How many requests run at once.
    private static let width = 32

    init(population: Population) throws {
        self.population = population
        policy = try PolicyFile.read(Population.policy, named: "policy.yaml")
    }

    func run() async throws -> Result {
        var run = self
        return try await run.play()
    }

    private mutating func play() async throws -> Result {
        var state = population.header.state
        try population.addCustomers(to: &state)
        report("\(state.accounts.count) customers and \(state.transactions.count) transactions exist")
        let authority = try TestAuthority()
        let folder = try Folder()
        let policyFile = try folder.write(Population.policy, to: "policy.yaml")
        var logger = Logger(label: "tenure") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .critical
        let service = InProcessService(policy: policyFile, authority: authority, logger: logger, rateLimitShare: 1000) {
            $0.appStoreIdle = 0.02
            $0.appStoreRateShare = 100
            // One address and one key send all requests.
            $0.rateLimits.perAddress = .unlimited
            $0.rateLimits.perToken = .unlimited
        }
        // The closure is concurrent, so it changes a copy.
        let run = self
        self = try await service.run(state, signer: AppStoreSigner(authority: authority)) { store in
            var run = run
            try await run.live(in: store, with: service)
            try await run.end(in: store, with: service)
            return run
        }
        withExtendedLifetime(folder) {}
        return Result(compared: compared, differences: differences, happened: population.happened)
    }

    // MARK: The days

    private mutating func live(in store: LocalAppStore, with service: InProcessService) async throws {
        var isUp = true
        for day in 0..<Population.days {
            switch Self.faults[day] {
            case .swallowing:
                try await store.perform(AppStoreOperation(.network, [.state: Network.swallowing.rawValue]))
            case .networkDown: try await store.perform(AppStoreOperation(.network, [.state: Network.down.rawValue]))
            case .networkUp: try await store.perform(AppStoreOperation(.network, [.state: Network.up.rawValue]))
            case .serviceDown:
                await service.stop()
                isUp = false
            case .serviceUp:
                try await injectFaults(at: await service.localStorePort)
                try await begin(service, in: store)
                isUp = true
            case nil: break
            }
            let opening = try await happen(in: store) { $0.live(day, in: &$1) }
            if isUp {
                try await open(opening, in: store, with: service)
                try await service.client.waitForHistories()
            }
            if day % 30 == 29 { try await reportProgress(day + 1, store) }
        }
    }

    private mutating func happen<Answer: Sendable>(
        in store: LocalAppStore, _ body: @escaping @Sendable (inout Population, inout AppStoreState) throws -> Answer
    ) async throws -> Answer {
        let population = population
        let (after, result) = try await store.perform(
            concurrency: Self.width, lostPerThousand: Self.losing, random: SeededRandom(seed: random.next())
        ) { state in
            var population = population
            let result = try body(&population, &state)
            return (population, result)
        }
        self.population = after
        return result
    }

    private func begin(_ service: InProcessService, in store: LocalAppStore) async throws {
        try await service.start()
        let state = await store.state
        try await service.client.waitForNotifications(upTo: state.now, in: state.environment)
        try await service.client.waitForHistories()
    }

    /// Makes the App Store's servers reject the next requests with retryable errors.
    private func injectFaults(at port: Int) async throws {
        let options = try LocalStoreOptions.parse(["--store", "http://127.0.0.1:\(port)"])
        for code in [5_000_001, 4_290_000] {
            _ = try await options.send(
                "POST", "/control/fault", Array(#"{"code": \#(code), "requests": 2}"#.utf8))
        }
    }

    private mutating func open(_ customers: [Int], in store: LocalAppStore, with service: InProcessService) async throws
    {
        let (client, population) = (await service.client, population)
        _ = try await concurrently(customers) { customer in
            _ = try await client.openApp(try await store.artifacts(of: population.name(customer)))
        }
        for customer in customers { self.population.didOpen(customer) }
    }

    // MARK: The end

    private mutating func end(in store: LocalAppStore, with service: InProcessService) async throws {
        try await store.perform(AppStoreOperation(.network, [.state: Network.up.rawValue]))
        // A new start fetches missed notifications.
        await service.stop()
        try await begin(service, in: store)
        let all = Array(0..<population.size)
        try await compare(all.filter { !population.unseen.contains($0) }, as: "knows", in: store, service)
        try await compare(all, as: "answers the device", in: store, service, opening: true)
        try await service.client.waitForHistories()
        try await compare(all, as: "knows at the end", in: store, service)
        report("\(compared) answers were compared, \(differences.count) differ")
    }

    private mutating func compare(
        _ customers: [Int], as verb: String, in store: LocalAppStore, _ service: InProcessService, opening: Bool = false
    ) async throws {
        let (client, state, policy, population) = (await service.client, await store.state, policy, population)
        let found = try await concurrently(customers) { customer -> (count: Int, differences: [String]) in
            let name = population.name(customer)
            guard let acquisition = state.acquisition(of: try state.accountIndex(name), app: 0) else { return (0, []) }
            let truth = try state.truth(of: name, under: policy)
            let answer =
                opening
                ? try await client.sync(try await store.artifacts(of: name))
                : try await client.customer(state.id(of: acquisition))
            let isKnown = opening || population.opened.contains(customer)
            guard let answer else {
                // The service can't know a customer who never opened the app and never bought anything in it.
                return (1, isKnown ? ["\(name): the service \(verb) nothing of them"] : [])
            }
            var count = 0
            var differences: [String] = []
            for entitlement in policy.entitlements {
                // Only the customer's device proves when they got the app, and that there is no other purchase.
                guard isKnown || entitlement.honors == nil else { continue }
                count += 1
                let isTrue = truth.contains(entitlement.name)
                let said = answer.entitlements[entitlement.name]
                let outcome = said?.outcome ?? .undetermined
                guard outcome != (isTrue ? .granted : .denied), isKnown || isTrue || outcome == .granted else {
                    continue
                }
                differences.append(
                    "\(name), \(entitlement.name): \(isTrue ? "granted" : "denied") in truth, and the service \(verb) \(outcome.rawValue): \(said?.sentence ?? "nothing")"
                )
            }
            return (count, differences)
        }
        for (count, differences) in found {
            compared += count
            self.differences += differences
        }
        if opening { for customer in customers { self.population.didOpen(customer) } }
        report("what the service \(verb) about \(customers.count) customers was compared")
    }

    private func concurrently<Answer: Sendable>(
        _ customers: [Int], _ work: @escaping @Sendable (Int) async throws -> Answer
    ) async throws -> [Answer] {
        try await withThrowingTaskGroup(of: (Int, Answer).self) { group in
            var waiting = customers.enumerated().makeIterator()
            func addNext() {
                guard let (place, customer) = waiting.next() else { return }
                group.addTask { (place, try await work(customer)) }
            }
            for _ in 0..<Self.width { addNext() }
            var results: [(Int, Answer)] = []
            while let result = try await group.next() {
                results.append(result)
                addNext()
            }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    // MARK: Progress

    private func reportProgress(_ day: Int, _ store: LocalAppStore) async throws {
        let state = await store.state
        let attempts = state.notifications.reduce(0) { $0 + $1.attempts.count }
        report("day \(day): \(state.notifications.count) notifications, \(attempts) attempts to deliver them")
    }

    /// The full run takes long.
    private func report(_ line: String) {
        guard SoakScale.isFull else { return }
        print("\(String(format: "%.1f", (clock.now - begin) / .seconds(1))) s: \(line)")
    }
}
