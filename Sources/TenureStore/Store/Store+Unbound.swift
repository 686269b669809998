package import Foundation

/// Stores artifacts that came without proof that they belong to the sender. Such artifacts are stored as an *unbound
/// customer*.
extension Store {
    /// Stores the artifacts in `update` as an unbound customer, and links this customer to the customers that
    /// `identities` name. Returns all of them. Stores nothing and returns nil if the identities name no customer, or if
    /// the named customers were erased in the meantime.
    ///
    /// - Parameter unbound: identifies exactly these artifacts, so that the same artifacts always lead to the same
    ///   unbound customer.
    package func recordUnbound(
        _ unbound: Identity, naming identities: [Identity], in realm: Realm, at now: Date, _ update: CustomerUpdate
    ) async throws(StoreError) -> UnboundCustomer? {
        let members = try await namedLocks.withLock(NamedLocks.reading) { () throws(StoreError) in
            try await read(at: now) { Set(try $0.members(by: identities, in: realm).values).sorted() }
        }
        var update = update
        update.setUnbound()
        var plan = CustomerUpdatePlan(naming: [unbound], in: realm, at: now, adding: update.size)
        if members.count <= DatabaseTransaction.linksPerPiece,
            update.size <= DatabaseTransaction.maximumEntriesInOnePiece
        {
            plan.source = .unbound(members: members)
        } else {
            // Link the customers before storing the artifacts, so that an erasure in the meantime removes the unbound
            // customer, too.
            guard try await link(unbound, to: members, in: realm, at: now) else { return nil }
            plan.source = .linkedUnbound(unbound)
        }
        try await removeUnbound(toMakeRoomFor: unbound, in: realm, at: now)
        let saved = try await self.update(plan) { [update] former -> (CustomerUpdate, Void) in
            guard let former else { return (update, ()) }
            // Keeps revocations by support, which the artifacts don't contain.
            var complete = update
            complete.add(former.facts.support)
            // If these artifacts were stored before, nothing is written.
            return (former.facts == complete.facts ? CustomerUpdate(of: former) : complete, ())
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
