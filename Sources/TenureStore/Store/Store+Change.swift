/// Changes that support staff or the app's server make to a customer.
extension Store {
    /// Makes the requested change, and adds an entry to the audit trail. If the change is refused, only the
    /// entry is written.
    ///
    /// - Parameter rederivation: derives the facts of customers that are split.
    package func perform(
        _ request: RequestedChange, on customer: CustomerName, using rederivation: Rederivation
    ) async throws(StoreError) -> ChangeOutcome {
        switch request.change {
        case .grant, .revoke: return try await support(request, on: customer, using: rederivation)
        case .erase: return try await erase(request, on: customer, using: rederivation)
        case .link, .unlink, .merge, .unmerge:
            return try await write(with: LargeFacts(rederivation), at: request.at, locking: request.keys) {
                try $0.perform(request, on: customer, using: rederivation)
            }
        }
    }
}

extension RequestedChange {
    /// The keys to lock. Requests of one admin key with the same ID, links of one user, and changes that merge or split
    /// customers run one after the other.
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
