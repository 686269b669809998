import Foundation
public import TenureCore

/// What a customer may use: what they paid for before the app changed, and what they bought since.
///
/// Make one when the app starts and keep it. It answers from what it knows at once, looks behind every answer, and never
/// shows a sign-in: only `restore()` may.
public final class Tenure: Sendable {
    let engine: Engine
    let board: Board
    let setup: Setup
    /// Ends with this object.
    private let work: [Task<Void, Never>]

    package init(_ setup: Setup) {
        self.setup = setup
        let engine = Engine(setup)
        self.engine = engine
        board = engine.board
        var work = [Task { await engine.run() }, Task { await engine.observeUnlocking() }]
        // What is bought while the app runs must not be missed: it is observed from the first moment on.
        if setup.access.distribution.hasPurchases { work.append(Task { await engine.observe() }) }
        self.work = work
    }

    deinit {
        for task in work { task.cancel() }
        board.close()
    }

    /// Whether the customer may use it now.
    ///
    /// A right that is known is answered at once, without waiting for anything. Otherwise everything that can answer without
    /// disturbing anybody is asked first, once after each start, each with a deadline. It never throws and never prompts.
    /// While nothing is known, the policy's `whileUndetermined` decides.
    nonisolated(nonsending) public func allows(_ entitlement: String) async -> Bool {
        switch board.verdict(on: entitlement, at: setup.clock()) {
        case .yes: return true
        case .no: return false
        case .search:
            await settle(entitlement)
            return board.lastVerdict(on: entitlement, at: setup.clock())
        }
    }

    /// The answer with its reasons, and one sentence for the customer. Waits like `allows`.
    public func decision(for entitlement: String) async -> Answer {
        if case .search = board.verdict(on: entitlement, at: setup.clock()) { await settle(entitlement) }
        let customer = board.customer
        if let answer = customer.answers[entitlement] { return answer }
        // A name that is misspelt is no customer without a right.
        let isKnownToNobody = customer.isComplete && !customer.answers.isEmpty
        if isKnownToNobody { setup.options.log.error("nobody knows an entitlement `\(entitlement)`") }
        return .unanswered(
            entitlement, because: isKnownToNobody ? .unknownEntitlement : .notAnswered,
            settlements: isKnownToNobody ? [.support] : [.appTransaction, .purchases])
    }

    /// What is known now, and every change of it, until the loop ends.
    public var updates: AsyncStream<Customer> { board.watch() }

    /// What is known now, without waiting.
    public var customer: Customer { board.customer }

    /// The raw facts of how the app was acquired, for those who want them; nil until the App Store, or what was kept of
    /// it, says so.
    public var acquisition: Acquisition? { board.customer.acquisition }

    /// Waits until the entitlement is granted, or everything was asked.
    private nonisolated(nonsending) func settle(_ entitlement: String) async {
        let customer = board.customer
        if customer.isComplete {
            // A right has ended since: whether it was renewed is asked once more.
            return await engine.search()
        }
        for await customer in board.watch() where customer.isComplete || customer.has(entitlement) { return }
    }
}

extension Setup {
    /// What a start of the app can say before anything was asked: the part of `Tenure.init` and `allows` that waits for
    /// nothing.
    package func allowsAtOnce(_ entitlement: String) -> Bool {
        if case .yes = Engine(self).board.verdict(on: entitlement, at: clock()) { true } else { false }
    }
}
