package import Foundation
import TenureCore

/// Saves syncs and other updates of a customer, in one transaction if they aren't too large.
extension Store {
    /// Finds the customer that the plan's identities name, or creates one, and saves what `decide` returns. Returns nil
    /// if the update no longer applies: the customer was erased, or the notification is stored already.
    ///
    /// `decide` gets the customer after all earlier updates; nil for a new customer. It may run again, so it must have
    /// no side effects.
    func update<Outcome: Sendable>(
        _ plan: CustomerUpdatePlan, decide: @escaping @Sendable (Customer?) -> (CustomerUpdate, Outcome)
    ) async throws(StoreError) -> (customer: Customer, outcome: Outcome)? {
        if plan.mayFitOneTransaction {
            let attempt = try await write(at: plan.now, locking: plan.lockKeys) {
                transaction -> Attempt<(customer: Customer, outcome: Outcome)?> in
                guard try transaction.stillApplies(plan) else { return .done(nil) }
                guard let found = try transaction.findCustomer(plan) else { return .unfinished }
                let (update, outcome) = decide(found.customer)
                let customer = try transaction.save(update, of: found)
                try transaction.complete(plan, for: customer)
                return .done((customer, outcome))
            }
            if case .done(let done) = attempt { return done }
        }
        return try await LargeUpdate(store: self, plan: plan, decide: decide).run()
    }

    /// Finds or creates the customer, and saves what `decide` returns, in several transactions. So other updates wait
    /// for one of these transactions at most.
    ///
    /// Call it for a plan with `mayFitOneTransaction` false, or for which `findCustomer` returns nil. The artifacts
    /// count once the last transaction ends. `decide` may run again.
    package func updateInPieces<Outcome: Sendable>(
        _ plan: CustomerUpdatePlan, decide: @escaping @Sendable (Customer?) -> (CustomerUpdate, Outcome)
    ) async throws(StoreError) -> (customer: Customer, outcome: Outcome) {
        guard let done = try await LargeUpdate(store: self, plan: plan, decide: decide).run() else {
            throw .defect("an update that always applies wasn't saved")
        }
        return done
    }

    /// Adds a response of the App Store to a customer, and returns the customer. Returns nil if the customer was erased
    /// in the meantime.
    ///
    /// - Parameters:
    ///   - identities: the identities that the response names.
    ///   - size: about how many artifacts, purchases and renewals the update adds.
    package func update<Outcome: Sendable>(
        _ customer: Customer, naming identities: [Identity], at now: Date, adding size: Int = 0,
        decide: @escaping @Sendable (Customer?) -> (CustomerUpdate, Outcome)
    ) async throws(StoreError) -> (customer: Customer, outcome: Outcome)? {
        var plan = CustomerUpdatePlan(naming: identities, in: customer.realm, at: now, adding: size)
        plan.source = .appStoreResponse(member: customer.member)
        return try await update(plan, decide: decide)
    }

    /// Runs one piece of a large operation: a transaction that runs while no other piece does.
    func writePiece<Value: Sendable>(
        at now: Date, locking keys: [LockKey] = [],
        _ body: @escaping @Sendable (DatabaseTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await namedLocks.withLock(NamedLocks.pieces) { () throws(StoreError) in
            try await write(at: now, locking: keys, body)
        }
    }
}

/// The result of a transaction.
enum Attempt<Value: Sendable>: Sendable {
    case done(Value)
    /// Another transaction changed the data that the result depends on, or the update is too large for one transaction.
    case unfinished
}

extension NamedLocks {
    /// The lock for writing a piece of a large operation. One piece is written at a time, so that other updates wait
    /// for one piece at most.
    static let pieces = "pieces"
    /// The lock for reading the customers that thousands of identities name. One large update reads at a time, so that
    /// other readers find a free connection.
    static let reading = "reading"
}
