package import Foundation
package import TenureStore

/// Single calls for what the service does in several steps.
extension Store {
    /// Finds or creates a customer and saves an update, as a sync does.
    package func update<Outcome: Sendable>(
        _ identities: [Identity], in realm: Realm, at now: Date, adding size: Int = 0,
        _ decide: @escaping @Sendable (Customer?) -> (CustomerUpdate, Outcome)
    ) async throws(StoreError) -> (Customer, Outcome) {
        let plan = CustomerUpdatePlan(naming: identities, in: realm, at: now, adding: size)
        var saved: (Customer, Outcome)?
        if plan.mayFitOneTransaction {
            saved = try await write(at: now, locking: plan.lockKeys) { transaction -> (Customer, Outcome)? in
                guard let found = try transaction.findCustomer(plan) else { return nil }
                let (update, outcome) = decide(found.customer)
                return (try transaction.save(update, of: found), outcome)
            }
        }
        if let saved { return saved }
        return try await updateInPieces(plan, decide: decide)
    }
}

extension DatabaseTransaction {
    /// Begins a trial session, if it is new and `admits` allows it after the sessions so far.
    package func beginTrialSession(
        _ name: String, of entitlement: String, for member: Int64, if admits: (Customer, TrialUse) -> Bool
    ) throws(StoreError) -> (customer: Customer, use: TrialUse, isCounted: Bool)? {
        guard let (customer, use) = try trialUse(of: entitlement, by: member, session: name) else { return nil }
        guard use.sessionBegan == nil, admits(customer, use) else { return (customer, use, false) }
        try beginTrialSession(name, of: entitlement, for: member)
        return (customer, use, true)
    }
}
