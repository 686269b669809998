import Foundation
import TenureCore

@testable import Tenure

/// The invented calculator: sold until June 2015, since then free with an in-app purchase.
enum InventedApp {
    static let bundleID = "com.example.calculator"
    static let everything = "com.example.calculator.everything"
    static let yearly = "com.example.calculator.yearly"
    static let device = UUID(uuid: (0xD1, 0xCE, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0x01))
    static let otherDevice = UUID(uuid: (0xD1, 0xCE, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0x02))
    /// 2026-11-20T12:00:00Z
    static let now = Date(timeIntervalSince1970: 1_795_176_000)
    static let day: TimeInterval = 86_400

    static func date(_ text: String) -> Date { Date(written: text) ?? .distantPast }

    static func policy(
        whileUndetermined: Policy.WhileUndetermined = .allow(72 * 3600),
        testEnvironments: Policy.TestEnvironments = .newCustomer, trial: Trial? = .sessions(2)
    ) -> Policy {
        do {
            return try Policy(
                app: Policy.App(bundleID: bundleID, appleID: 828_838_134),
                eras: [
                    Era(name: "paid", model: .paid),
                    Era(
                        name: "freemium", model: .free,
                        begins: [
                            .iOS: .at(version: AppVersion("120"), date: date("2015-06-10T18:00:00Z")),
                            .macOS: .at(version: AppVersion("2.0"), date: date("2015-06-12T18:00:00Z")),
                        ], changeover: .window(from: -24 * 3600, until: 48 * 3600)),
                ],
                buildNumbers: .increasing,
                entitlements: [
                    Entitlement(
                        name: "everything", products: [.init(id: everything), .init(id: yearly)],
                        honors: [Honor(era: "paid")], trial: trial),
                    Entitlement(name: "cloud", products: [.init(id: yearly)]),
                ],
                whileUndetermined: whileUndetermined, testEnvironments: testEnvironments)
        } catch {
            fatalError("the invented policy is invalid: \(error)")
        }
    }

    /// The app transaction of a customer who bought build 37 in 2014.
    static func owner(
        id: String? = "704000000000000001", environment: AppStoreEnvironment = .production,
        signed: Date = date("2015-01-05"), revoked: Date? = nil
    ) -> AppStoreAppTransaction {
        app(
            id: id, version: "37", bought: date("2014-05-01"), environment: environment, signed: signed,
            revoked: revoked)
    }

    /// The app transaction of a customer who got the app when it was free.
    static func newcomer(
        id: String? = "704000000000000002", environment: AppStoreEnvironment = .production,
        signed: Date = now.addingTimeInterval(-60)
    ) -> AppStoreAppTransaction {
        app(id: id, version: "300", bought: date("2026-09-13"), environment: environment, signed: signed)
    }

    private static func app(
        id: String?, version: String, bought: Date, environment: AppStoreEnvironment, signed: Date, revoked: Date? = nil
    ) -> AppStoreAppTransaction {
        let proof = AppProof(
            kind: .appTransaction, signedDate: signed, id: id.map { .appTransaction($0) }, originalPlatform: .iOS,
            originalAppVersion: version, originalPurchaseDate: bought, revocationDate: revoked)
        return AppStoreAppTransaction(
            jws: "app.\(id ?? "").\(signed.timeIntervalSince1970)", bundleID: bundleID, environment: environment,
            proof: proof)
    }

    static func purchase(
        _ product: String = everything, id: String = "410000000000001", of account: String? = nil,
        type: Purchase.ProductType = .nonConsumable, bought: Date = now.addingTimeInterval(-3600),
        expires: Date? = nil, revoked: Date? = nil, environment: AppStoreEnvironment = .production,
        signed: Date? = nil
    ) -> AppStoreTransaction {
        AppStoreTransaction(
            jws: "transaction.\(id)", environment: environment, appTransactionID: account,
            purchase: Purchase(
                transactionID: id, productID: product, type: type, purchaseDate: bought, expiresDate: expires,
                revocationDate: revoked, signedDate: signed ?? bought))
    }

    static func subscription(
        until end: Date, id: String = "410000000000002", of account: String? = nil, bought: Date? = nil
    ) -> AppStoreTransaction {
        purchase(
            yearly, id: id, of: account, type: .autoRenewable, bought: bought ?? end.addingTimeInterval(-365 * day),
            expires: end)
    }
}

/// A device with a fake StoreKit, a storage for its state, and a clock. `start()` starts the app.
final class Device: Sendable {
    let store: FakeStore
    let storage: MemoryStateStorage
    let time: TestTime
    private let configure: @Sendable (inout Setup) -> Void

    init(
        _ store: FakeStore, storage: MemoryStateStorage = MemoryStateStorage(), at now: Date = InventedApp.now,
        policy: Policy? = InventedApp.policy(), _ change: @escaping @Sendable (inout Setup) -> Void = { _ in }
    ) {
        self.store = store
        self.storage = storage
        time = TestTime(now)
        configure = { setup in
            setup.options.serviceTimeout = 60
            change(&setup)
        }
        basePolicy = policy
    }

    private let basePolicy: Policy?

    func start(_ change: (inout Setup) -> Void = { _ in }) -> Tenure {
        let time = time
        var setup = Setup(access: store, storage: storage, policy: basePolicy.map { .policy($0) })
        setup.clock = { time.now }
        setup.sleep = { try await time.sleep($0) }
        setup.waitUntil = { try await time.waitUntil($0) }
        setup.chance = { 1 }
        setup.extendTimeouts()
        // Only a StoreKit that never answers makes the client wait for the whole timeout.
        if store.now.hangs { setup.options.appStoreTimeout = 1 }
        configure(&setup)
        change(&setup)
        return Tenure(setup)
    }
}

extension Setup {
    /// Extends the timeouts, because a busy machine answers late.
    mutating func extendTimeouts() {
        options.appStoreTimeout = 60
        resolvingTimeout = 60
        recheckTimeout = 60
    }
}

/// A keychain in memory.
final class MemoryStateStorage: StateStorage {
    struct IsLocked: Error {}

    private struct State: Sendable {
        var contents: Data?
        var isLocked = false
        var refusesWrites = false
        var writes = 0
        var reads = 0
    }

    private let state: Locked<State>
    private let turn = NSLock()
    private let key: Data

    init(_ contents: Data? = nil, key: Data = Data("a secret of this device".utf8)) {
        state = Locked(State(contents: contents))
        self.key = key
    }

    var contents: Data? {
        get { state.withLock { $0.contents } }
        set { state.withLock { $0.contents = newValue } }
    }
    var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set { state.withLock { $0.isLocked = newValue } }
    }
    var refusesWrites: Bool {
        get { state.withLock { $0.refusesWrites } }
        set { state.withLock { $0.refusesWrites = newValue } }
    }
    var writes: Int { state.withLock { $0.writes } }
    var reads: Int { state.withLock { $0.reads } }

    func read() throws -> Data? {
        state.withLock { $0.reads += 1 }
        if isLocked { throw IsLocked() }
        return contents
    }

    func update(_ change: (Data?) throws -> Data) throws {
        if isLocked { throw IsLocked() }
        // Not inside `state`'s lock, because `change` reads the secret. `turn` makes writers wait for each other.
        turn.lock()
        defer { turn.unlock() }
        let before = contents
        let after = try change(before)
        if refusesWrites { throw IsLocked() }
        guard after != before else { return }
        state.withLock {
            $0.contents = after
            $0.writes += 1
        }
    }

    func remove() throws { contents = nil }

    func secret() throws -> Data { key }
}

extension Tenure.Customer {
    /// Whether the entitlement is granted, without trials and the grace period.
    func has(_ entitlement: String) -> Bool { answers[entitlement]?.outcome == .granted }
}

/// A clock that changes only when a test sets it. It counts sleeps, which end by `wake()`.
final class TestTime: Sendable {
    private struct State: Sendable {
        var now: Date
        var slept: [Double] = []
        var sleepers: [UUID: CheckedContinuation<Void, any Error>] = [:]
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        /// Callers that wait until the clock shows a date.
        var alarms: [UUID: (date: Date, continuation: CheckedContinuation<Void, any Error>)] = [:]
    }

    private let state: Locked<State>

    init(_ now: Date) {
        state = Locked(State(now: now))
    }

    var now: Date {
        get { state.withLock { $0.now } }
        set {
            let due = state.withLock { state in
                state.now = newValue
                let due = state.alarms.filter { $0.value.date <= newValue }
                for id in due.keys { state.alarms[id] = nil }
                return due.values.map(\.continuation)
            }
            for continuation in due { continuation.resume() }
        }
    }

    /// Returns once the clock shows the date.
    func waitUntil(_ date: Date) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isDue = state.withLock { state in
                    guard state.now < date else { return true }
                    state.alarms[id] = (date, continuation)
                    return false
                }
                if isDue { continuation.resume() } else if Task.isCancelled { cancelAlarm(id) }
            }
        } onCancel: {
            cancelAlarm(id)
        }
    }

    private func cancelAlarm(_ id: UUID) {
        state.withLock { $0.alarms.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
    }

    /// The requested seconds of each sleep, in order.
    var slept: [Double] { state.withLock { $0.slept } }

    func sleep(_ seconds: Double) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let woken = state.withLock { state in
                    state.slept.append(seconds)
                    state.sleepers[id] = continuation
                    let due = state.waiters.filter { $0.count <= state.slept.count }.map(\.continuation)
                    state.waiters.removeAll { $0.count <= state.slept.count }
                    return due
                }
                for waiter in woken { waiter.resume() }
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: UUID) {
        state.withLock { $0.sleepers.removeValue(forKey: id) }?.resume(throwing: CancellationError())
    }

    /// Ends all sleeps.
    func wake() {
        let sleepers = state.withLock { state in
            defer { state.sleepers = [:] }
            return Array(state.sleepers.values)
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// Waits until so many sleeps have begun.
    func sleeping(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.slept.count < count else { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}

extension Tenure {
    /// Returns the customer after all reads have ended.
    func settled() async -> Customer {
        for await customer in updates where !customer.isResolving { return customer }
        return customer
    }
}

extension Engine {
    /// The stored state as this process knows it.
    var stored: StoredState { device.stored }
}
