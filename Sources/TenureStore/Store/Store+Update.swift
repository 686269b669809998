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
    ///   - identities: what the notification says about whom it concerns.
    ///   - decide: returns what the notification adds to the customer (nil for a new customer).
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
        guard let known else { throw .busy }
        return known
    }

    // Stores artifacts that came without proof that they belong to the sender. Such artifacts are stored as an *unbound
    // customer*.

    /// Stores the artifacts in `update` as an unbound customer, and links it to the customers that `identities` name.
    /// Returns it with these customers. Stores nothing and returns nil if there are no such customers, or if they were
    /// erased in the meantime.
    ///
    /// - Parameter unbound: identifies exactly these artifacts, so that the same artifacts always lead to the same
    ///   unbound customer.
    package func recordUnbound(
        _ unbound: Identity, naming identities: [Identity], in realm: Realm, at now: Date, _ update: CustomerUpdate
    ) async throws(StoreError) -> UnboundCustomer? {
        let links = try await namedLocks.withLock(NamedLocks.reading) { () throws(StoreError) in
            try await read(at: now) { Set(try $0.members(by: identities, in: realm).values).sorted() }
        }
        var update = update
        update.setUnbound()
        var plan = CustomerUpdatePlan(naming: [unbound], in: realm, at: now, adding: update.size)
        if links.count <= DatabaseTransaction.linksPerPiece, update.size <= DatabaseTransaction.maximumEntriesInOnePiece
        {
            plan.source = .unbound(members: links)
        } else {
            // Link the customers before storing the artifacts, so that an erasure in the meantime removes the unbound
            // customer, too.
            guard try await link(unbound, to: links, in: realm, at: now) else { return nil }
            plan.source = .linkedUnbound(unbound)
        }
        try await removeUnbound(toMakeRoomFor: unbound, in: realm, at: now)
        let saved = try await self.update(plan) { [update] former -> (CustomerUpdate, Void) in
            guard let former else { return (update, ()) }
            var kept = update
            kept.add(former.facts.support)
            // If these artifacts were stored before, nothing is written.
            return (former.facts == kept.facts ? CustomerUpdate(of: former) : kept, ())
        }
        guard let customer = saved?.customer else { return nil }
        let customers = try await read { try $0.customers(namedBy: customer) }
        return customers.isEmpty ? nil : UnboundCustomer(unbound: customer, customers: customers)
    }

    /// Creates the unbound customer if needed, and links it to the members (rows of `customers`) with these row IDs, in
    /// several short transactions. Returns false if none of the members exists; otherwise true.
    private func link(
        _ unbound: Identity, to members: [Int64], in realm: Realm, at now: Date
    ) async throws(StoreError) -> Bool {
        try await removeUnbound(toMakeRoomFor: unbound, in: realm, at: now)
        let first = members.prefix(DatabaseTransaction.linksPerPiece)
        let customer = try await write(at: now, locking: [.identity(unbound, realm)]) { transaction -> Int64? in
            guard try !transaction.lockExisting(first).isEmpty else { return nil }
            let known = try transaction.member(by: unbound, in: realm)
            let customer = try known ?? transaction.createUnbound(unbound, in: realm)
            try transaction.link(customer, to: first)
            return customer
        }
        guard let customer else { return false }
        let knownLinks = try await read(at: now) { try $0.links(of: customer) }
        let missingLinks = Set(members).subtracting(knownLinks).sorted()
        let outdatedLinks = Set(knownLinks).subtracting(members).sorted()
        for piece in missingLinks.chunks(of: DatabaseTransaction.linksPerPiece) {
            try await writePiece(at: now) { transaction in
                if try transaction.member(.rowID(customer)) != nil { try transaction.link(customer, to: piece) }
            }
        }
        for piece in outdatedLinks.chunks(of: DatabaseTransaction.linksPerPiece) {
            try await writePiece(at: now) { try $0.unlink(customer, from: piece) }
        }
        return true
    }

    /// Removes the oldest unbound customers with the same `Identity.valuePrefix` as `unbound`, until there is room for
    /// `unbound` (`DatabaseTransaction.maximumUnbound`). Does nothing if `unbound` is stored already.
    package func removeUnbound(
        toMakeRoomFor unbound: Identity, in realm: Realm, at now: Date
    ) async throws(StoreError) {
        while let oldest = try await read(at: now, { try $0.oldestUnbound(of: unbound, in: realm) }) {
            try await writePiece(at: now) { transaction in
                if try transaction.member(.rowID(oldest)) != nil { _ = try transaction.hide([oldest]) }
            }
            try await removeLeftovers(at: now)
        }
    }
}

/// The result of a transaction.
enum Attempt<Value: Sendable>: Sendable {
    case done(Value)
    /// Another transaction changed the data that the result depends on, or the update is too large for one transaction.
    case unfinished
}

/// Locks with names, for the tasks of one process. One task at a time holds a name. Other tasks wait for the name, and
/// get it in the order in which they asked for it.
final class NamedLocks: Sendable {
    /// The lock for writing a piece of a large operation. One piece is written at a time, so that other updates wait
    /// for one piece at most.
    static let pieces = "pieces"
    /// The lock for reading the customers that thousands of identities name. One large update reads at a time, so that
    /// other readers find a free connection.
    static let reading = "reading"

    /// The tasks that wait for each name that is held.
    private let waiting = Locked<[String: [CheckedContinuation<Void, Never>]]>([:])

    /// Waits for the name, and runs `body` while this task holds it.
    func withLock<Value>(
        _ name: String, _ body: () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                if waiting[name] != nil {
                    waiting[name]?.append(continuation)
                    return false
                }
                waiting[name] = []
                return true
            }
            if isFree { continuation.resume() }
        }
        defer { leave(name) }
        return try await body()
    }

    /// Passes the name to the task that has waited longest, or releases the name if no task waits.
    private func leave(_ name: String) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            if waiting[name]?.isEmpty == false { return waiting[name]?.removeFirst() }
            waiting[name] = nil
            return nil
        }
        next?.resume()
    }
}
