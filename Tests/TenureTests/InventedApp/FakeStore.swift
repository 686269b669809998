import Foundation
import TenureCore

@testable import Tenure

/// A fake StoreKit that a test controls: it answers, throws, hangs or returns unverified results. It counts every call
/// that could show a sign-in.
///
/// Apple documents that calls may throw, that results may be unverified, and that `AppStore.sync()` and
/// `AppTransaction.refresh()` may ask the customer to sign in
/// (<https://developer.apple.com/documentation/storekit/appstore/sync()>,
/// <https://developer.apple.com/documentation/storekit/apptransaction/refresh()>). Apple doesn't document that a call
/// may hang; developers have reported it.
final class FakeStore: AppStoreAccess {
    /// What a call of the fake StoreKit does.
    enum Behavior: Sendable, CaseIterable {
        case answers, throwsAnError, hangs, answersUnverified
        /// Shows a sign-in, which is counted and never completed.
        case asksToSignIn
    }

    /// What StoreKit would return, how its calls behave, and what the client has called.
    struct State: Sendable {
        var distribution = Tenure.Distribution.appStore
        var trustsTestAuthorities = true
        /// The bundle ID of the process; nil if it has none, as in a command-line tool.
        var bundleID: String? = InventedApp.bundleID
        var device: UUID? = InventedApp.device
        var app: AppStoreAppTransaction?
        var transactions: [AppStoreTransaction] = []
        var renewals: [AppStoreRenewal] = []
        var unfinished: [AppStoreTransaction] = []
        var finished: [String] = []
        var receipt: Data?
        var deviceIdentifier: String?
        /// How many times it was read.
        var deviceIdentifierReads = 0
        var appBehavior = Behavior.answers
        var transactionsBehavior = Behavior.answers
        var renewalsBehavior = Behavior.answers
        var restoreBehavior = Behavior.answers
        var finishBehavior = Behavior.answers
        /// Whether calls that list purchases wait until a test lets them continue. They return what was there when they
        /// were called. Apple doesn't document what such a call returns.
        var isListingPaused = false
        /// Whether the App Store doesn't respond. Then the list of purchases is empty, and a request for products
        /// fails. Apple documents that `Product.products(for:)` can throw and that `Transaction.all` can't
        /// (<https://developer.apple.com/documentation/storekit/transaction/all>), but not what the sequence has then.
        var isOffline = false
        /// The transactions that can't be finished.
        var unfinishable: Set<String> = []
        /// Whether calls that the library makes by itself never return.
        var hangs: Bool { [appBehavior, transactionsBehavior, renewalsBehavior].contains(.hangs) }
        /// Changes that `synchronize` makes.
        var afterRestore: (@Sendable (inout State) -> Void)?
        var appCalls = 0
        var listCalls = 0
        /// The product IDs of each call that listed purchases.
        var listedProducts: [[String]] = []
        /// The number of calls that may show a sign-in.
        var prompts = 0
        /// How many times the device or the app's files were read.
        var installationReads = 0
    }

    struct Failure: Error {}

    private let state: Locked<State>
    private let news: AsyncStream<AppStoreResult<AppStoreTransaction>>
    private let newsContinuation: AsyncStream<AppStoreResult<AppStoreTransaction>>.Continuation

    init(_ change: (inout State) -> Void = { _ in }) {
        var state = State()
        change(&state)
        self.state = Locked(state)
        (news, newsContinuation) = AsyncStream.makeStream()
    }

    var now: State { state.withLock { $0 } }

    func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    /// Delivers a transaction from another device, or one that a parent approved. According to Apple's documentation,
    /// the app's own purchases come from `Product.purchase` and never through `Transaction.updates`.
    func deliverUpdate(_ transaction: AppStoreTransaction) {
        change { state in
            state.transactions.append(transaction)
            state.unfinished.append(transaction)
        }
        newsContinuation.yield(.verified(transaction))
    }

    func deliverUnverified() { newsContinuation.yield(.unverified(reason: "invalid signature")) }

    // MARK: AppStoreAccess

    var distribution: Tenure.Distribution { reading(\.distribution) }
    var trustsTestAuthorities: Bool { reading(\.trustsTestAuthorities) }
    var bundleID: String? { now.bundleID }
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

    func appTransaction() async throws -> AppStoreResult<AppStoreAppTransaction> {
        change { $0.appCalls += 1 }
        return try await answer(now.appBehavior) {
            guard let app = self.now.app else { throw Failure() }
            return app
        }
    }

    func transactions(productIDs: [String]) async throws -> [AppStoreResult<AppStoreTransaction>] {
        let listed = state.withLock { state in
            state.listCalls += 1
            state.listedProducts.append(productIDs)
            return state.isOffline ? [] : state.transactions
        }
        if now.isOffline, !productIDs.isEmpty { throw Failure() }
        while now.isListingPaused { try await Task.sleep(nanoseconds: 1_000_000) }
        return try await list(now.transactionsBehavior, listed)
    }

    func renewals(of transactions: [AppStoreTransaction]) async throws -> [AppStoreResult<AppStoreRenewal>] {
        try await list(now.renewalsBehavior, now.renewals)
    }

    func unfinished() async throws -> [AppStoreTransaction] { now.unfinished }

    func updates() -> AsyncStream<AppStoreResult<AppStoreTransaction>> { news }

    func finish(_ transactionID: String) async throws {
        if now.finishBehavior == .throwsAnError || now.unfinishable.contains(transactionID) { throw Failure() }
        change { state in
            state.unfinished.removeAll { $0.purchase.transactionID == transactionID }
            state.finished.append(transactionID)
        }
    }

    func synchronize() async throws {
        change { $0.prompts += 1 }
        switch now.restoreBehavior {
        case .throwsAnError: throw Failure()
        case .asksToSignIn: throw SignInCanceled()
        case .hangs: try await hang()
        case .answers, .answersUnverified: break
        }
        change { state in
            let after = state.afterRestore
            after?(&state)
        }
    }

    func refreshAppTransaction() async throws -> AppStoreResult<AppStoreAppTransaction> {
        change { $0.prompts += 1 }
        guard let app = now.app else { throw Failure() }
        return .verified(app)
    }

    // MARK: Behaviors

    private func answer<Value>(_ behavior: Behavior, _ value: () throws -> Value) async throws -> AppStoreResult<Value>
    {
        switch behavior {
        case .answers: return .verified(try value())
        case .answersUnverified: return .unverified(reason: "invalid signature")
        case .throwsAnError: throw Failure()
        case .hangs: try await hang()
        case .asksToSignIn:
            change { $0.prompts += 1 }
            throw Failure()
        }
    }

    private func list<Value>(_ behavior: Behavior, _ values: [Value]) async throws -> [AppStoreResult<Value>] {
        switch behavior {
        case .answers: return values.map { .verified($0) }
        // The list has an entry that can't be verified.
        case .answersUnverified: return [.unverified(reason: "invalid signature")]
        case .throwsAnError: throw Failure()
        case .hangs: try await hang()
        case .asksToSignIn:
            change { $0.prompts += 1 }
            throw Failure()
        }
    }

    /// Never returns, and ignores cancellation.
    private func hang() async throws -> Never {
        while true { await withUnsafeContinuation { Hung.shared.add($0) } }
    }
}

/// Keeps suspended continuations alive while callers wait for them.
private final class Hung: Sendable {
    static let shared = Hung()
    private let continuations = Locked<[UnsafeContinuation<Void, Never>]>([])

    func add(_ continuation: UnsafeContinuation<Void, Never>) {
        continuations.withLock { $0.append(continuation) }
    }
}
