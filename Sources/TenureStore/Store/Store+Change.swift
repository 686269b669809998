extension Store {
    /// Carries out what a person asked for, with an entry in the audit trail. A refused change writes only that entry.
    ///
    /// `rederivation` derives the facts of customers that are split.
    package func perform(
        _ request: RequestedChange, on customer: CustomerName, by rederivation: Rederivation
    ) async throws(StoreError) -> ChangeOutcome {
        switch request.change {
        case .grant, .revoke: return try await support(request, on: customer, by: rederivation)
        case .erase: return try await erase(request, customer, by: rederivation)
        case .link, .unlink, .merge, .unmerge:
            return try await changeAccounts(request, on: customer, by: rederivation)
        }
    }

    /// Changes which accounts are one customer, in one transaction. Facts of large customers are computed before it:
    /// each attempt that misses some ends without a change, so an interruption leaves the customers as they were.
    private func changeAccounts(
        _ request: RequestedChange, on customer: CustomerName, by rederivation: Rederivation
    ) async throws(StoreError) -> ChangeOutcome {
        let largeFacts = LargeFacts(rederivation)
        let perform: @Sendable (DatabaseTransaction) throws -> ChangeOutcome = { transaction in
            var transaction = transaction
            transaction.largeFacts = largeFacts
            return try transaction.perform(request, on: customer, by: rederivation)
        }
        for number in 0..<LargeFacts.mostAttempts {
            do {
                // The first attempt is enough for most customers. Further ones let others write in between.
                return number == 0
                    ? try await write(at: request.at, locking: request.keys, perform)
                    : try await writePiece(at: request.at, locking: request.keys, perform)
            } catch {
                guard try await largeFacts.prepare(in: self, by: rederivation, at: request.at) else { throw error }
            }
        }
        throw .busy
    }
}

extension RequestedChange {
    /// Requests of one admin key with one ID, and links of one user, run one after the other.
    var keys: [LockKey] {
        var keys: [LockKey] = []
        if let request { keys.append(.request(request, actor: actor)) }
        switch change {
        case .link(let user, _), .unlink(let user): keys.append(.user(user))
        case .merge, .unmerge, .erase: keys.append(.merges)
        case .grant, .revoke: break
        }
        return keys
    }
}
