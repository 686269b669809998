import Foundation
import LocalAppStore
import Logging
import TenureAPI
import TenureAppStore
import TenureCore
import TenureMint
import TenurePolicyFile
import TenureServer

/// A population's lives against a service, and whether it knows in the end what is true.
struct Soak {
    private var population: Population
    private var dice = Dice(seed: 7)
    private let policy: Policy
    private let clock = ContinuousClock()
    private let begin = ContinuousClock.now
    private var checked = 0
    private var differences = 0

    /// What goes wrong on which day of the service.
    private enum Trouble {
        /// Notifications are answered and lost.
        case swallowing
        /// Nobody answers them.
        case networkDown
        case networkUp
        case serviceDown
        /// It begins again, while the App Store's own servers have trouble.
        case serviceUp
    }

    private static let troubles: [Int: Trouble] = [
        40: .swallowing, 46: .networkUp, 90: .serviceDown, 101: .serviceUp, 140: .networkDown, 142: .networkUp,
        180: .serviceDown, 181: .serviceUp, 240: .networkDown, 243: .networkUp,
    ]
    /// Of a thousand notifications, how many get lost on a day without trouble.
    private static let losing = 10
    private static let width = 32

    init(population: Population) throws {
        self.population = population
        policy = try PolicyFile.read(Population.policy, named: "policy.yaml")
    }

    /// The number of differences.
    func run() async throws -> Int {
        var soak = self
        return try await soak.play()
    }

    private mutating func play() async throws -> Int {
        var world = population.founding.world
        try population.found(in: &world)
        tell("a world of \(world.accounts.count) customers and \(world.transactions.count) transactions was built")
        let authority = try TestAuthority(seed: "soak")
        let folder = try ScratchFolder()
        let policyFile = folder.path + "/policy.yaml"
        try Data(Population.policy.utf8).write(to: URL(fileURLWithPath: policyFile))
        var logger = Logger(label: "tenure") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .critical
        let service = OwnService(policy: policyFile, authority: authority, logger: logger, rateLimitShare: 1000) {
            $0.appStoreIdle = 0.02
            $0.appStoreRateShare = 100
            // One address and one key ask for everybody.
            $0.rateLimits.perAddress = nil
            $0.rateLimits.perToken = nil
        }
        // What is learnt while it runs is wanted afterwards, too.
        let soak = self
        self = try await service.run(world, signer: StoreSigner(authority: authority)) { store in
            var soak = soak
            try await soak.live(in: store, with: service)
            try await soak.end(in: store, with: service)
            return soak
        }
        return differences
    }

    // MARK: The days

    private mutating func live(in store: LocalAppStore, with service: OwnService) async throws {
        var isUp = true
        for day in 0..<Population.days {
            switch Self.troubles[day] {
            case .swallowing: try await store.perform(Act(.network, [.state: Network.swallowing.rawValue]))
            case .networkDown: try await store.perform(Act(.network, [.state: Network.down.rawValue]))
            case .networkUp: try await store.perform(Act(.network, [.state: Network.up.rawValue]))
            case .serviceDown:
                await service.end()
                isUp = false
            case .serviceUp:
                try await makeTrouble(at: await service.storePort)
                try await begin(service, in: store)
                isUp = true
            case nil: break
            }
            let opening = try await happen(in: store) { $0.live(day, in: &$1) }
            if isUp {
                try await open(opening, in: store, with: service)
                try await service.running.settle()
            }
            if day % 30 == 29 { try await tellProgress(day + 1, store) }
        }
    }

    private mutating func happen<Result: Sendable>(
        in store: LocalAppStore, _ body: @escaping @Sendable (inout Population, inout World) throws -> Result
    ) async throws -> Result {
        let population = population
        let (after, result) = try await store.perform(
            width: Self.width, losing: Self.losing, dice: Dice(seed: dice.next())
        ) { world in
            var population = population
            let result = try body(&population, &world)
            return (population, result)
        }
        self.population = after
        return result
    }

    private func begin(_ service: OwnService, in store: LocalAppStore) async throws {
        try await service.begin()
        let world = await store.world
        try await service.running.caughtUp(to: world.now, in: world.environment)
        try await service.running.settle()
    }

    /// The App Store's servers refuse the next requests with what can be tried again.
    private func makeTrouble(at port: Int) async throws {
        let options = StoreOptions(url: "http://127.0.0.1:\(port)")
        for code in [5_000_001, 4_290_000] {
            _ = try await options.send(
                "POST", "/control/trouble", Array(#"{"code": \#(code), "requests": 2}"#.utf8))
        }
    }

    private mutating func open(_ customers: [Int], in store: LocalAppStore, with service: OwnService) async throws {
        let (client, population) = (await service.running, population)
        _ = try await concurrently(customers) { customer in
            _ = try await client.open(try await store.artifacts(of: population.name(customer)))
        }
        for customer in customers { self.population.didOpen(customer) }
    }

    // MARK: The end

    private mutating func end(in store: LocalAppStore, with service: OwnService) async throws {
        try await store.perform(Act(.network, [.state: Network.up.rawValue]))
        // Once more it looks for what it missed, and time is over.
        await service.end()
        try await begin(service, in: store)
        let everybody = Array(0..<population.size)
        try await compare(everybody.filter { !population.unseen.contains($0) }, as: "knows", in: store, service)
        try await compare(everybody, as: "tells the device", in: store, service, opening: true)
        try await service.running.settle()
        try await compare(everybody, as: "knows in the end", in: store, service)
        tell("\(checked) answers were compared, \(differences) differ")
    }

    private mutating func compare(
        _ customers: [Int], as word: String, in store: LocalAppStore, _ service: OwnService, opening: Bool = false
    ) async throws {
        let (client, world, policy, population) = (await service.running, await store.world, policy, population)
        let found = try await concurrently(customers) { customer -> (count: Int, differences: [String]) in
            let name = population.name(customer)
            guard let acquisition = world.acquisition(of: try world.accountPlace(name), app: 0) else { return (0, []) }
            let truth = try world.truth(of: name, under: policy)
            let answer =
                opening
                ? try await client.sync(try await store.artifacts(of: name))
                : try await client.customer(world.id(of: acquisition))
            let isKnown = opening || population.opened.contains(customer)
            guard let answer else {
                // Who never opened the app and never bought anything in it is nobody to the service.
                return (1, isKnown ? ["\(name): the service \(word) nothing of them"] : [])
            }
            var count = 0
            var differences: [String] = []
            for entitlement in policy.entitlements {
                // When somebody got the app only their device tells, and that there is no other purchase.
                guard isKnown || entitlement.honors == nil else { continue }
                count += 1
                let isTrue = truth.contains(entitlement.name)
                let said = answer.entitlements[entitlement.name]
                let outcome = said?.outcome ?? .undetermined
                guard outcome != (isTrue ? .granted : .denied), isKnown || isTrue || outcome == .granted else {
                    continue
                }
                differences.append(
                    "\(name), \(entitlement.name): \(isTrue ? "granted" : "denied") in truth, and the service \(word) \(outcome.rawValue): \(said?.sentence ?? "nothing")"
                )
            }
            return (count, differences)
        }
        for (count, differences) in found {
            checked += count
            self.differences += differences.count
            for difference in differences { Terminal.standardOutput.write("  " + Terminal.clean(difference)) }
        }
        if opening { for customer in customers { self.population.didOpen(customer) } }
        tell("what the service \(word) of \(customers.count) customers was compared")
    }

    private func concurrently<Result: Sendable>(
        _ customers: [Int], _ work: @escaping @Sendable (Int) async throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: (Int, Result).self) { group in
            var waiting = customers.enumerated().makeIterator()
            func addNext() {
                guard let (place, customer) = waiting.next() else { return }
                group.addTask { (place, try await work(customer)) }
            }
            for _ in 0..<Self.width { addNext() }
            var results: [(Int, Result)] = []
            while let result = try await group.next() {
                results.append(result)
                addNext()
            }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    // MARK: Words

    private func tellProgress(_ day: Int, _ store: LocalAppStore) async throws {
        let world = await store.world
        let attempts = world.notifications.reduce(0) { $0 + $1.attempts.count }
        tell("day \(day): \(world.notifications.count) notifications, \(attempts) attempts to deliver them")
        guard day == Population.days else { return }
        for (word, count) in population.happened.sorted(by: { $0.key < $1.key }) {
            Terminal.standardOutput.write("  \(word): \(count)")
        }
    }

    private func tell(_ words: String) {
        let seconds = (clock.now - begin) / .seconds(1)
        Terminal.standardOutput.write("\(String(format: "%.1f", seconds)) s: \(words)")
    }
}

/// A folder that goes with whoever holds it.
private final class ScratchFolder: Sendable {
    let path = NSTemporaryDirectory() + "tenure-soak-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
