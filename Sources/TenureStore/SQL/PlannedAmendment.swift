import Foundation
import TenureCore

/// An act that adds to the record of one customer, in one transaction or in several.
struct PlannedAmendment<Outcome: Sendable>: Sendable {
    /// Whom it is about.
    let identities: [Identity]
    let realm: Realm
    let now: Date
    /// How many artifacts, purchases and renewals it adds.
    var size = 0
    var adopting: @Sendable (Customer) -> Bool = { _ in true }
    /// Further keys to lock; see `SQLStore.write`.
    var keys: [String] = []
    /// Whether it may still happen: asked where a customer is made, and where what it adds is written.
    var condition: @Sendable (Ledger) throws(StoreError) -> Bool = { _ in true }
    /// Called at the end of the transaction that writes what it adds.
    var completion: @Sendable (Ledger, Customer) throws(StoreError) -> Void = { _, _ in }
    let change: @Sendable (Customer?) -> (Amendment, Outcome)
}

/// What came of a transaction.
enum Attempt<Value: Sendable>: Sendable {
    case done(Value)
    /// Its condition doesn't hold anymore.
    case ended
    /// It rests on what others changed, or takes too long for one transaction.
    case unfinished
}

extension SQLStore {
    /// Nil where its condition does not hold.
    func carryOut<Outcome: Sendable>(
        _ plan: PlannedAmendment<Outcome>
    ) async throws(StoreError) -> (Customer, Outcome)? {
        if let visit = plan.identities.first(where: { $0.kind == .visit }) {
            try await makeRoom(for: visit, in: plan.realm, at: plan.now)
        }
        let keys = plan.identities.map { $0.key(in: plan.realm) } + plan.keys
        if keys.count <= Ledger.mostKeys, plan.size <= Ledger.mostEntriesInOnePiece {
            let attempt = try await write(locking: keys) {
                session throws(StoreError) -> Attempt<(Customer, Outcome)> in
                let ledger = Ledger(session, at: plan.now)
                guard try plan.condition(ledger) else { return .ended }
                let named = try ledger.resolve(plan.identities, in: plan.realm)
                guard named.factsSize <= Ledger.mostFactsInOnePiece, !named.areSomeErased else { return .unfinished }
                let done = try ledger.amend(named, adopting: plan.adopting, plan.change)
                try plan.completion(ledger, done.0)
                return .done(done)
            }
            switch attempt {
            case .done(let done): return done
            case .ended: return nil
            case .unfinished: break
            }
        }
        return try await LargeAmendment(store: self, plan: plan).run()
    }

    /// One transaction of a large act.
    func writePiece<Value: Sendable>(
        at now: Date, locking keys: [String] = [],
        _ body: @escaping @Sendable (Ledger) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await turns.take(Turns.pieces) { () throws(StoreError) in
            try await write(locking: keys) { session throws(StoreError) in try body(Ledger(session, at: now)) }
        }
    }
}

extension Turns {
    /// Who writes a piece of a large act: other acts wait for one of them at most.
    static let pieces = "pieces"
    /// Who reads what thousands of identities name: others find a connection.
    static let reading = "reading"
}
