import Foundation

/// Carries out changes that support staff or the app's server request. A *member* is a row of `customers`: a merged
/// customer has several.
extension DatabaseTransaction {
    /// Carries out the change, and appends an entry to the audit trail, whether it succeeds or is refused.
    func perform(_ request: RequestedChange, on name: CustomerName) throws(StoreError) -> ChangeOutcome {
        if let counts = try countsOfEarlierErasure(by: request, of: name) { return .erased(counts) }
        guard let member = try member(name) else {
            // The caller repeated the request before the erasure was complete.
            if case .erase = request.change, let counts = try countsOfErasure(of: name) { return .erased(counts) }
            // The audit trail names customers by public ID only.
            var publicID: String?
            if case .publicID(let id) = name { publicID = id }
            return try audited(.refused(.noSuchCustomer), request, on: publicID)
        }
        if let earlier = try storedRequest(request) {
            // An earlier request with this ID asked for another change, or was about another customer.
            guard earlier == (member.publicID, request.change.canonicalText)
            else { return try audited(.refused(.requestReused), request, on: member.publicID) }
            return .done(try customer(of: member), isNew: false)
        }
        let outcome = try attempt(request, on: member)
        switch outcome {
        case .done: try remember(request, on: member.publicID, as: request.change.canonicalText)
        case .erased(let counts): try rememberErasure(by: request, of: member, counts)
        case .refused: break
        }
        return try audited(outcome, request, on: member.publicID)
    }

    /// Carries out the change, and returns the outcome, which is `refused` if the change isn't possible.
    private func attempt(_ request: RequestedChange, on member: CustomerMember) throws(StoreError) -> ChangeOutcome {
        switch request.change {
        case .grant, .revoke: try grantOrRevoke(request, on: member)
        case .link(let user, let transfer): try link(user, to: member, transfer, actor: request.actor)
        case .unlink(let user): try unlink(user, from: member, actor: request.actor)
        case .merge(let other): try merge(other, with: member, request)
        case .unmerge(let other): try unmerge(other, from: member, request)
        case .erase: try erase(member)
        }
    }

    /// Erases the customer of a member: hides all rows, which are removed later, and queues the webhook message.
    private func erase(_ member: CustomerMember) throws(StoreError) -> ChangeOutcome {
        let survivor = try survivor(of: member)
        let counts = try hide(survivor).merging(hiddenBefore) { $0 + $1 }
        // The message contains nothing except the public ID.
        let erased = Customer(
            id: survivor.id, realm: survivor.realm, publicID: survivor.publicID, createdAt: survivor.createdAt,
            facts: CustomerFacts())
        try queue(Message(.customerErased, [:]), about: erased)
        return .erased(counts)
    }

    /// Records a grant or revocation by support. Refuses a grant for an unbound customer: it would apply to everyone
    /// who has a copy of the customer's artifacts.
    private func grantOrRevoke(
        _ request: RequestedChange, on member: CustomerMember
    ) throws(StoreError) -> ChangeOutcome {
        if case .grant = request.change, try isUnbound(member.id) { return .refused(.unboundProof) }
        let former = try customer(of: member)
        guard let grant = request.grant,
            let customer = try record(grant, for: member.id, reason: request.reason, actor: request.actor)
        else { return .refused(.noSuchCustomer) }
        return .done(customer.with(member: member.id), isNew: customer.facts != former.facts)
    }

    /// Merges the customer with this public ID into the customer of `member`. Refuses if one of the conditions below
    /// isn't met.
    private func merge(
        _ publicID: String, with member: CustomerMember, _ request: RequestedChange
    ) throws(StoreError) -> ChangeOutcome {
        guard let otherMember = try self.member(.publicID(publicID)) else { return .refused(.noSuchOther) }
        let (customer, other) = (try customer(of: member), try customer(of: otherMember))
        guard other.realm == customer.realm else { return .refused(.otherEnvironment) }
        guard other.id != customer.id else { return .refused(.alreadyMerged) }
        guard try !isUnbound(member.id), try !isUnbound(otherMember.id) else { return .refused(.unboundProof) }
        guard mayJoin(try group(of: customer.id), try group(of: other.id)) else { return .refused(.tooManyMerged) }
        try forgetSeparations(between: customer.id, and: other.id)
        let merged = try merge(other, into: customer, because: .support, actor: request.actor, reason: request.reason)
        return .done(merged, isNew: true)
    }

    /// Undoes the merge of the member with this public ID, which becomes a separate customer again.
    private func unmerge(
        _ publicID: String, from member: CustomerMember, _ request: RequestedChange
    ) throws(StoreError) -> ChangeOutcome {
        guard let other = try self.member(.publicID(publicID)) else { return .refused(.noSuchOther) }
        guard other.mergedInto != nil, try customer(of: other).id == (try customer(of: member).id)
        else { return .refused(.notMerged) }
        var detail = ["because": MergeReason.support.rawValue]
        detail["reason"] = request.reason
        try splitOff(other, isPermanent: true, actor: request.actor, detail: detail)
        return .done(try customer(of: member), isNew: true)
    }

    /// Appends an entry about the change to the audit trail, and returns the outcome.
    private func audited(
        _ outcome: ChangeOutcome, _ request: RequestedChange, on publicID: String?
    ) throws(StoreError) -> ChangeOutcome {
        var detail = request.change.detail
        if let reason = request.reason { detail["reason"] = reason }
        switch outcome {
        case .refused(let refusal): detail["refused"] = refusal.rawValue
        case .done(_, let isNew): if !isNew { detail["changed"] = "nothing" }
        case .erased(let counts): for (name, count) in counts { detail[name] = String(count) }
        }
        try audit(
            AuditEntry(at: now, actor: request.actor, action: request.change.name, customer: publicID, detail: detail))
        return outcome
    }

    // MARK: Repeated requests

    // Remembers requests of the admin API by their `Idempotency-Key`, so that a repeated request changes nothing.

    /// How long requests are stored, in seconds: 30 days. Clients don't repeat older requests.
    private static let requestLifetime: TimeInterval = 30 * 86_400

    /// Returns the columns `customer` and `change` of the stored request with the same admin key and ID; nil if there
    /// is no such request, or if the request has no ID.
    func storedRequest(_ request: RequestedChange) throws(StoreError) -> (customer: String, change: String)? {
        guard let id = request.requestID else { return nil }
        return try session.row(
            "SELECT customer, change FROM requests WHERE actor = $1 AND request = $2",
            [.text(request.actor), .text(id)]
        ).map { row throws(StoreError) in (try row.text(0), try row.text(1)) }
    }

    /// The counts that the same request for an erasure returned before; nil if there was no such request.
    func countsOfEarlierErasure(
        by request: RequestedChange, of name: CustomerName
    ) throws(StoreError) -> [String: Int]? {
        guard case .erase = request.change, case .publicID(let publicID) = name,
            let (customer, change) = try storedRequest(request),
            let digest = try digest(ofErased: publicID), customer == digest
        else { return nil }
        // `change` contains the change's name, a space, and the counts as JSON; see `rememberErasure`.
        let counts = change.dropFirst(request.change.name.count + 1)
        return try? JSONDecoder().decode([String: Int].self, from: Data(counts.utf8))
    }

    /// Stores the counts of an erasure for a repeated request, with a salted hash instead of the customer's ID.
    func rememberErasure(
        by request: RequestedChange, of member: CustomerMember, _ counts: [String: Int]
    ) throws(StoreError) {
        guard request.requestID != nil else { return }
        _ = try existingOrNewSalt()
        guard let digest = try digest(ofErased: member.publicID) else { return }
        try remember(request, on: digest, as: "\(request.change.name) \(counts.json)")
    }

    /// Stores a request that has an ID, so that a repeated request changes nothing.
    private func remember(_ request: RequestedChange, on customer: String, as change: String) throws(StoreError) {
        guard let id = request.requestID else { return }
        try session.execute(
            "DELETE FROM requests WHERE at < $1", [SQLValue(now.addingTimeInterval(-Self.requestLifetime))])
        try session.execute(
            "INSERT INTO requests (actor, request, customer, change, at) VALUES ($1, $2, $3, $4, $5)",
            [.text(request.actor), .text(id), .text(customer), .text(change), milliseconds])
    }
}
