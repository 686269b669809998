package import Foundation
import TenureCore

extension Store {
    /// Finds the customer that signed identities name, or creates one, and adds to what is stored about them. Returns
    /// nil if the reason for the update is gone.
    ///
    /// `decide` runs inside the transaction, and gets the result of all earlier updates. It must have no other effect,
    /// because it may run again.
    func update<Outcome: Sendable>(
        _ plan: CustomerUpdatePlan, decide: @escaping @Sendable (Customer?) -> (CustomerUpdate, Outcome)
    ) async throws(StoreError) -> (customer: Customer, outcome: Outcome)? {
        if plan.mayFitOneTransaction {
            let attempt = try await write(at: plan.now, locking: plan.lockKeys) {
                transaction -> Attempt<(customer: Customer, outcome: Outcome)> in
                guard try transaction.mayHappen(plan) else { return .ended }
                guard let found = try transaction.findCustomer(plan) else { return .unfinished }
                let (update, outcome) = decide(found.customer)
                let customer = try transaction.save(update, of: found)
                try transaction.complete(plan, for: customer)
                return .done((customer, outcome))
            }
            switch attempt {
            case .done(let done): return done
            case .ended: return nil
            case .unfinished: break
            }
        }
        return try await LargeUpdate(store: self, plan: plan, decide: decide).run()
    }

    /// Finds or creates the customer, decides and saves in several transactions. Other updates wait for one of them at
    /// most.
    ///
    /// For a plan that doesn't fit one transaction, or for which `findCustomer` returns nil. Artifacts count with the
    /// last transaction. `decide` may run again.
    package func updateInPieces<Outcome: Sendable>(
        _ plan: CustomerUpdatePlan, decide: @escaping @Sendable (Customer?) -> (CustomerUpdate, Outcome)
    ) async throws(StoreError) -> (customer: Customer, outcome: Outcome) {
        guard let done = try await LargeUpdate(store: self, plan: plan, decide: decide).run() else {
            throw .defect("an update that always applies wasn't saved")
        }
        return done
    }

    /// Adds a response of the App Store to a customer. Returns nil if the customer was erased in the meantime.
    ///
    /// - Parameter size: About how many artifacts, purchases and renewals the update adds.
    package func update<Outcome: Sendable>(
        _ customer: Customer, by identities: [Identity], at now: Date, adding size: Int = 0,
        decide: @escaping @Sendable (Customer?) -> (CustomerUpdate, Outcome)
    ) async throws(StoreError) -> (customer: Customer, outcome: Outcome)? {
        var plan = CustomerUpdatePlan(naming: identities, in: customer.realm, at: now, adding: size)
        plan.source = .customer(member: customer.member)
        return try await update(plan, decide: decide)
    }

    /// Runs one transaction of a large update.
    func writePiece<Value: Sendable>(
        at now: Date, locking keys: [LockKey] = [],
        _ body: @escaping @Sendable (DatabaseTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await turns.take(Turns.pieces) { () throws(StoreError) in
            try await write(at: now, locking: keys, body)
        }
    }
}

/// The result of a transaction.
enum Attempt<Value: Sendable>: Sendable {
    case done(Value)
    /// The reason for it is gone.
    case ended
    /// Another transaction changed what it depends on, or it is too large for one transaction.
    case unfinished
}

extension Turns {
    /// Writing a piece of a large update. Other updates wait for one piece at most.
    static let pieces = "pieces"
    /// Reading the customers that thousands of identities name. Other readers still find a free connection.
    static let reading = "reading"
}
