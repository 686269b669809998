import TenureCore

/// Grants and revocations by support.
extension Store {
    /// Makes a grant or revocation that support requested. For a customer with large facts, computes the new facts
    /// before the transaction, so that other transactions can write meanwhile.
    func grantOrRevoke(
        _ request: RequestedChange, on customer: CustomerName
    ) async throws(StoreError) -> ChangeOutcome {
        try await retrying { () throws(StoreError) -> Attempt<ChangeOutcome> in
            let prepared = try await read(at: request.at) { try $0.prepareSupport(request, on: customer) }
            return try await write(at: request.at, locking: request.keys) { transaction in
                var transaction = transaction
                guard try transaction.use(prepared, of: customer) else { return .unfinished }
                return .done(try transaction.perform(request, on: customer))
            }
        }
    }
}

/// A customer's facts before and after a grant or revocation, encoded before the transaction that stores them.
struct PreparedFacts: Sendable {
    /// The row ID of the customer.
    let customer: Int64
    /// The facts before the change.
    let former: EncodedFacts
    /// The facts after the change.
    let next: EncodedFacts
}

extension DatabaseTransaction {
    /// Computes the facts of a large customer after a grant or revocation. Returns nil if the customer's facts are
    /// small, or if the customer doesn't exist.
    fileprivate func prepareSupport(
        _ request: RequestedChange, on name: CustomerName
    ) throws(StoreError) -> PreparedFacts? {
        guard let grant = request.grant, let id = try largeCustomer(name), let known = try customer(id)
        else { return nil }
        let facts = known.facts.adding(grant)?.facts ?? known.facts
        return PreparedFacts(customer: id, former: EncodedFacts(known.facts), next: EncodedFacts(facts))
    }

    /// Lets this transaction use prepared facts. Returns false if the customer changed since the preparation, or if the
    /// facts are large now and weren't then; otherwise true.
    fileprivate mutating func use(_ prepared: PreparedFacts?, of name: CustomerName) throws(StoreError) -> Bool {
        guard let large = try largeCustomer(name) else { return true }
        guard let prepared, prepared.customer == large else { return false }
        let row = try session.row("SELECT facts FROM customers WHERE id = $1", [.integer(large)])
        guard let row, prepared.former.hasSameBytes(as: try row.bytes(0)) else {
            // A published policy may still have promises of this customer to end or restore (`UnfinishedPublication`).
            // The prepared facts include that change, but the stored row may not. Reading the customer for an update
            // writes the change to the row, so the next attempt finds equal facts.
            if try unfinishedPublication() != nil { _ = try customer(large, forUpdate: true) }
            return false
        }
        knownFacts[large] = prepared.former
        self.preparedFacts = prepared.next
        return true
    }

    /// Returns the row ID of the customer if their facts are large; otherwise nil. For a merged customer, it is the row
    /// ID of the customer into whom this one was merged.
    private func largeCustomer(_ name: CustomerName) throws(StoreError) -> Int64? {
        guard let member = try member(name, forUpdate: false) else { return nil }
        let customers = try survivors(of: [member.id], largerThan: Self.maximumFactsBytesPerTransaction)
        return customers[member.id]
    }
}

extension RequestedChange {
    /// The grant or revocation; nil for other changes.
    var grant: SupportGrant? {
        switch change {
        case .grant(let entitlement, let until): SupportGrant(.grant, of: entitlement, date: at, until: until)
        case .revoke(let entitlement): SupportGrant(.revocation, of: entitlement, date: at)
        case .link, .unlink, .merge, .unmerge, .erase: nil
        }
    }
}
