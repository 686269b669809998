/// Changes that support staff or the app's server make to a customer.
extension Store {
    /// Makes the requested change, and adds an entry to the audit trail. If the change is refused, only the
    /// entry is written.
    ///
    /// - Parameter rederivation: computes the facts of both customers again if the change splits a customer.
    package func perform(
        _ request: RequestedChange, on customer: CustomerName, using rederivation: Rederivation
    ) async throws(StoreError) -> ChangeOutcome {
        switch request.change {
        case .grant, .revoke: return try await grantOrRevoke(request, on: customer)
        case .erase: return try await erase(request, on: customer)
        case .link, .unlink, .merge, .unmerge:
            return try await write(with: LargeFacts(rederivation), at: request.at, locking: request.keys) {
                try $0.perform(request, on: customer)
            }
        }
    }
}

extension RequestedChange {
    /// The keys to lock. Changes run one after the other if they are requests of one admin key with the same ID, or
    /// link or unlink the same user. So do all merges, undone merges and erasures.
    var keys: [LockKey] {
        var keys: [LockKey] = []
        if let requestID { keys.append(.request(requestID, actor: actor)) }
        switch change {
        case .link(let user, _), .unlink(let user): keys.append(.user(user))
        case .merge, .unmerge, .erase: keys.append(.merges)
        case .grant, .revoke: break
        }
        return keys
    }
}
