import Foundation
import TenureCore
import TenureHTTP

@testable import Tenure

/// A store on command: it answers, throws, hangs, answers unverified, and counts every call that could show a sign-in.
final class FakeStore: StoreAccess {
    /// How a call behaves.
    enum Mood: Sendable, CaseIterable {
        case answers, throwsAnError, hangs, answersUnverified
        /// Asks for a sign-in that nobody gives; counted.
        case asksToSignIn
    }

    struct State: Sendable {
        var distribution = Tenure.Distribution.appStore
        var isRehearsal = true
        var device: UUID? = World.device
        var app: StoreAppTransaction?
        var transactions: [StoreTransaction] = []
        var renewals: [StoreRenewal] = []
        var unfinished: [StoreTransaction] = []
        var finished: [String] = []
        var receipt: Data?
        var deviceIdentifier: String?
        /// How often it was read.
        var deviceIdentifierReads = 0
        var appMood = Mood.answers
        var transactionsMood = Mood.answers
        var renewalsMood = Mood.answers
        var restoreMood = Mood.answers
        /// Whether it leaves without an answer what the library asks by itself.
        var hangs: Bool { [appMood, transactionsMood, renewalsMood].contains(.hangs) }
        /// What `synchronize` brings.
        var afterRestore: (@Sendable (inout State) -> Void)?
        var appCalls = 0
        var listCalls = 0
        /// Calls that may show a sign-in.
        var prompts = 0
        /// How often the device or the app's files were read.
        var installationReads = 0
    }

    struct Failure: Error {}

    private let state: Locked<State>
    private let news: AsyncStream<StoreResult<StoreTransaction>>
    private let newsContinuation: AsyncStream<StoreResult<StoreTransaction>>.Continuation

    init(_ change: (inout State) -> Void = { _ in }) {
        var state = State()
        change(&state)
        self.state = Locked(state)
        (news, newsContinuation) = AsyncStream.makeStream()
    }

    var now: State { state.withLock { $0 } }

    func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    /// A transaction from outside of this app: from another device, or approved by a parent. What the app buys itself
    /// comes back from `Product.purchase` and never through `Transaction.updates`, says Apple's documentation of both.
    func deliverUpdate(_ transaction: StoreTransaction) {
        change { state in
            state.transactions.append(transaction)
            state.unfinished.append(transaction)
        }
        newsContinuation.yield(.verified(transaction))
    }

    func deliverUnverified() { newsContinuation.yield(.unverified(reason: "invalid signature")) }

    // MARK: StoreAccess

    var distribution: Tenure.Distribution { reading(\.distribution) }
    var isRehearsal: Bool { reading(\.isRehearsal) }
    var bundleID: String? { World.bundleID }
    var deviceVerificationID: UUID? { reading(\.device) }

    private func reading<Value: Sendable>(_ path: KeyPath<State, Value>) -> Value {
        state.withLock { state in
            state.installationReads += 1
            return state[keyPath: path]
        }
    }

    var deviceIdentifier: String? {
        change { $0.deviceIdentifierReads += 1 }
        return now.deviceIdentifier
    }
    var receipt: Data? { now.receipt }

    func appTransaction() async throws -> StoreResult<StoreAppTransaction> {
        change { $0.appCalls += 1 }
        return try await answer(now.appMood) {
            guard let app = self.now.app else { throw Failure() }
            return app
        }
    }

    func transactions(productIDs: [String]) async throws -> [StoreResult<StoreTransaction>] {
        change { $0.listCalls += 1 }
        return try await list(now.transactionsMood, now.transactions)
    }

    func renewals(of transactions: [StoreTransaction]) async throws -> [StoreResult<StoreRenewal>] {
        try await list(now.renewalsMood, now.renewals)
    }

    func unfinished() async throws -> [StoreTransaction] { now.unfinished }

    func updates() -> AsyncStream<StoreResult<StoreTransaction>> { news }

    func finish(_ transactionID: String) async throws {
        change { state in
            state.unfinished.removeAll { $0.purchase.transactionID == transactionID }
            state.finished.append(transactionID)
        }
    }

    func synchronize() async throws {
        change { $0.prompts += 1 }
        switch now.restoreMood {
        case .throwsAnError: throw Failure()
        case .asksToSignIn: throw SignInCanceled()
        default: break
        }
        change { state in
            let after = state.afterRestore
            after?(&state)
        }
    }

    func refreshAppTransaction() async throws -> StoreResult<StoreAppTransaction> {
        change { $0.prompts += 1 }
        guard let app = now.app else { throw Failure() }
        return .verified(app)
    }

    // MARK: Moods

    private func answer<Value>(_ mood: Mood, _ value: () throws -> Value) async throws -> StoreResult<Value> {
        switch mood {
        case .answers: return .verified(try value())
        case .answersUnverified: return .unverified(reason: "invalid signature")
        case .throwsAnError: throw Failure()
        case .hangs: try await hang()
        case .asksToSignIn:
            change { $0.prompts += 1 }
            throw Failure()
        }
    }

    private func list<Value>(_ mood: Mood, _ values: [Value]) async throws -> [StoreResult<Value>] {
        switch mood {
        case .answers: return values.map { .verified($0) }
        // Something stands in the list, and nobody knows what.
        case .answersUnverified: return [.unverified(reason: "invalid signature")]
        case .throwsAnError: throw Failure()
        case .hangs: try await hang()
        case .asksToSignIn:
            change { $0.prompts += 1 }
            throw Failure()
        }
    }

    /// For ever, and without listening to a cancellation.
    private func hang() async throws -> Never {
        while true { await withUnsafeContinuation { Hung.shared.add($0) } }
    }
}

/// Keeps what hangs, so that nothing is freed while it is waited for.
private final class Hung: Sendable {
    static let shared = Hung()
    private let continuations = Locked<[UnsafeContinuation<Void, Never>]>([])

    func add(_ continuation: UnsafeContinuation<Void, Never>) {
        continuations.withLock { $0.append(continuation) }
    }
}
