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
        guard let done = try await LargeUpdate(store: self, plan: plan, decide: decide).run()
        else { throw .defect("an update that always applies wasn't saved") }
        return done
    }

    /// Saves what `decide` returns for a response of the App Store about a customer. Returns nil if the customer was
    /// erased in the meantime.
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
        at now: Date, locking keys: [LockKey] = [], _ body: @escaping TransactionBody<Value>
    ) async throws(StoreError) -> Value {
        try await namedLocks.withLock(NamedLocks.pieces) { () throws(StoreError) in
            try await write(at: now, locking: keys, body)
        }
    }

    // MARK: Notifications

    /// Stores a notification once, and adds what it proves to the customer whom the identities name. Creates the
    /// customer if the identities name no customer. Without identities, the notification is stored without a customer.
    ///
    /// A notification that was received before changes nothing. A notification about an erased customer isn't stored.
    ///
    /// - Parameters:
    ///   - identities: the identities of the customer whom the notification is about.
    ///   - decide: gets the customer (nil for a new one), and returns what the notification adds.
    package func receive(
        _ notification: StoredNotification, about identities: [Identity], at now: Date,
        _ decide: @escaping @Sendable (Customer?) -> CustomerUpdate
    ) async throws(StoreError) -> Reception {
        let key = LockKey.notification(uuid: notification.uuid, notification.realm)
        guard !identities.isEmpty else {
            return try await write(at: now, locking: [key]) { transaction in
                if let known = try transaction.reception(of: notification, about: identities) { return known }
                try transaction.insert(notification, about: nil)
                return Reception(isNew: true, customer: nil)
            }
        }
        var plan = CustomerUpdatePlan(naming: identities, in: notification.realm, at: now)
        plan.source = .notification(notification)
        if let (customer, _) = try await update(plan, decide: { (decide($0), ()) }) {
            return Reception(isNew: true, customer: customer)
        }
        let known = try await read(at: now) { try $0.reception(of: notification, about: identities) }
        // Nil if the erased customer has just used the app again. The App Store sends the notification again after
        // `busy`, and it is stored then.
        guard let known else { throw .busy }
        return known
    }
}
