import Foundation
public import TenureCore

/// Tells an app what its customer may use: what they paid for before the app's business model changed, and what they
/// have bought since.
///
/// Create one instance when the app starts, and keep it. The instance answers immediately from what it knows, and
/// refreshes in the background. Only `restore()` may ask the customer to sign in.
public final class Tenure: Sendable {
    let engine: Engine
    /// The current answers, which the engine publishes.
    let state: CustomerState
    let setup: Setup
    /// The asset packs.
    let library: ContentLibrary
    /// The tasks that run in the background. They are canceled when this object is released.
    private let work: [Task<Void, Never>]

    /// Creates a client that starts even if the policy can't be used, like `init(policyIfValid:options:)`.
    package convenience init(_ setup: Setup) {
        self.init(setup, policy: Result { () throws(Tenure.Error) in try setup.loadPolicy() })
    }

    /// Creates a client with the policy that was read, or with the reason why it can't be used.
    init(_ setup: Setup, policy: Result<LoadedPolicy?, Tenure.Error>) {
        self.setup = setup
        let engine = Engine(setup, policy: policy)
        self.engine = engine
        state = engine.customerState
        let library = ContentLibrary(setup, engine: engine)
        self.library = library
        work = [
            Task { await engine.run() },
            // Begin to observe transactions immediately, so that no purchase is missed.
            Task { await engine.observeTransactions() },
            Task { await engine.observeEvents() },
            Task { await engine.limitResolving() },
            Task { await library.run() },
        ]
    }

    deinit {
        for task in work { task.cancel() }
        state.close()
        library.contentStates.close()
    }

    /// Returns whether the customer may use the entitlement now.
    ///
    /// If a right is already known, the call returns immediately. Otherwise it waits, for 15 seconds at most, until
    /// Tenure has asked the App Store, and the service if there is one, for the first time since the start. If a right
    /// has ended, the call waits until they were asked again, also for 15 seconds at most. If a denial is older than a
    /// minute, the call checks the denial again, which takes 2 seconds at most. The call never throws and never shows a
    /// sign-in. While the decision is undetermined, `Options.whileUndetermined` decides, or else the policy's
    /// `whileUndetermined`.
    nonisolated(nonsending) public func allows(_ entitlement: String) async -> Bool {
        if case .yes = state.access(to: entitlement) { return true }
        await waitForDecision(on: entitlement)
        return state.allows(entitlement)
    }

    /// Returns the decision with its reasons, and a sentence for the customer. Waits like `allows(_:)`.
    public func decision(for entitlement: String) async -> Answer {
        await waitForDecision(on: entitlement)
        let customer = state.customer
        if let answer = customer.answers[entitlement] { return answer }
        if let error = customer.policyError {
            return .unanswered(entitlement, because: .policyUnusable, "\(error)", nextSteps: [.support])
        }
        // Log a misspelled name. Otherwise it would look like a customer without the entitlement.
        let isUnknownName = state.isUnknown(entitlement)
        if isUnknownName { setup.options.log.error("there is no entitlement `\(entitlement)`; check its spelling") }
        return .unanswered(
            entitlement, because: isUnknownName ? .unknownEntitlement : .notAnswered,
            nextSteps: isUnknownName ? [.support] : [.appTransaction, .purchases])
    }

    /// The customer now, and after every change, until the loop ends. Changes include the end of a right, of a grace
    /// period or of a trial session.
    public var updates: AsyncStream<Customer> { state.watch() }

    /// The customer now. Doesn't wait: see `Customer.isResolving`.
    public var customer: Customer { state.customer }

    /// How the app was acquired, as the App Store signed it. Nil until it was read, now or at an earlier start.
    public var acquisition: Acquisition? { state.customer.acquisition }

    /// Asks the App Store, the service and the policy's server again, without prompting the customer.
    @discardableResult
    public func refresh() async -> Customer {
        await engine.refresh()
        return state.customer
    }

    /// Waits until the entitlement is granted, until it is definitely denied, or until the timeout.
    private nonisolated(nonsending) func waitForDecision(on entitlement: String) async {
        var access = state.access(to: entitlement)
        if case .resolving = access {
            for await customer in state.watch() {
                if !customer.isResolving { break }
                if case .yes = state.access(to: entitlement) { break }
            }
            access = state.access(to: entitlement)
        }
        let engine = engine
        switch access {
        case .yes, .no, .resolving: return
        case .ended:
            _ = await value(of: Task { await engine.search(afterEndOf: entitlement) }, within: setup.resolvingTimeout)
        case .stale: _ = await value(of: Task { await engine.recheck() }, within: setup.recheckTimeout)
        }
    }
}

extension Setup {
    /// Returns whether the stored state alone grants the entitlement, before StoreKit and the service have responded.
    package func allowsAtOnce(_ entitlement: String) async -> Bool {
        let engine = Engine(self, policy: .success(nil))
        await engine.load()
        if case .yes = engine.customerState.access(to: entitlement) { return true } else { return false }
    }
}
