import TenureCore

/// Computes the facts of two customers again after they were split.
///
/// A merged customer has several rows in `customers`, its *members*. One of these rows has the facts of all members
/// together, and doesn't say which fact came from whom. So the facts of each customer are computed again from what its
/// members stored: signed artifacts and notifications, promises (`StoredPromise`), and grants and revocations by
/// support.
extension DatabaseTransaction {
    /// One of the customers after a split, with the facts from its own rows.
    private struct Part {
        let customer: Customer
        /// The row IDs of the customer's members.
        let members: [Int64]
        var facts = CustomerFacts()
    }

    /// Computes and writes the facts of the customers with these row IDs. Returns these customers in the same order.
    /// The service soon compares their entitlements with what webhooks last reported about each of them.
    ///
    /// - Parameters:
    ///   - former: the customer before the split.
    ///   - rederivation: verifies signed artifacts and notifications again.
    func restore(
        _ ids: [Int64], of former: Customer, using rederivation: Rederivation
    ) throws(StoreError) -> [Customer] {
        // First, the facts that each side's own rows prove.
        var parts: [Part] = []
        for id in ids {
            guard let customer = try customer(id, forUpdate: true) else { throw .damaged("customer \(id) is missing") }
            var part = Part(customer: customer, members: try group(of: customer.id))
            var own: [CustomerFacts] = []
            for member in part.members { own += try facts(of: member, using: rederivation) }
            part.facts = try result(
                of: .sum(CustomerFacts(), own, isComplete: try purchasesAreComplete(of: part.members)))
            parts.append(part)
        }
        // Then, the facts of the former customer that neither side's rows prove.
        try distribute(former, among: &parts)
        // A publication that is being prepared evaluates these customers again.
        for part in parts { try recordTombstones(part.members) }
        return try parts.map { part throws(StoreError) in
            let customer = try update(part.customer, to: part.facts)
            try session.execute(
                "UPDATE customers SET next_comparison = $1 WHERE id = $2 AND EXISTS (SELECT 1 FROM endpoints)",
                [milliseconds, .integer(customer.id)])
            return customer
        }
    }

    /// The facts of one member: first what its signed artifacts and notifications prove, then its promises and its
    /// grants and revocations by support.
    private func facts(of member: Int64, using rederivation: Rederivation) throws(StoreError) -> [CustomerFacts] {
        // Most signatures were verified before the transaction. Entries that were stored since then are verified here.
        var proven =
            largeFacts?.provenFacts(of: member) ?? rederivation.provenFacts[member] ?? Rederivation.ProvenFacts()
        var (pages, end) = ([CustomerFacts](), proven.end)
        while let entries = try signedEntries(of: member, after: end, limit: Rederivation.pageSize), !entries.isEmpty {
            let count = proven.facts.entryCount + entries.artifacts.count + entries.notifications.count
            if let largeFacts, count > LargeFacts.maximumEntriesProvenInTransaction {
                throw largeFacts.miss(.provenFacts(member))
            }
            pages.append(try rederivation.prove(entries))
            end = entries.end
        }
        proven.add(pages, upTo: end)
        var decided = CustomerFacts()
        decided.add(try promises(of: member))
        for support in try supportGrants(of: member) { decided.add(support.grant) }
        return [proven.facts, decided]
    }

    /// Distributes the facts that no stored artifact proves.
    ///
    /// The database stores at most 5,000 artifacts of a member. What further artifacts proved is only in the facts of
    /// the merged customer. Each of these facts goes to the customer with an identity that the fact names, such as a
    /// purchase's transaction ID. If neither customer has such an identity, the fact goes to the customer of the first
    /// member with 5,000 artifacts.
    private func distribute(_ former: Customer, among parts: inout [Part]) throws(StoreError) {
        var fullMember: Int64?
        for member in parts.flatMap(\.members).sorted() where fullMember == nil {
            if try artifactCount(of: member) >= Self.maximumArtifactsPerMember { fullMember = member }
        }
        // Without such a member, a stored artifact proves every fact.
        guard let fullMember, let fallback = parts.firstIndex(where: { $0.members.contains(fullMember) }) else {
            return
        }
        let unproven = try result(of: .remainder(former.facts, without: parts.map(\.facts)))
        let names =
            unproven.proofs.flatMap(\.names) + unproven.purchases.flatMap(\.names) + unproven.renewals.flatMap(\.names)
        let owners = try members(by: Array(Set(names)), in: former.realm)
        func part(of names: [Identity]) -> Int {
            let owner = names.lazy.compactMap { owners[$0] }.first ?? fullMember
            return parts.firstIndex { $0.members.contains(owner) } ?? fallback
        }
        let proofs = Dictionary(grouping: unproven.proofs) { part(of: $0.names) }
        let purchases = Dictionary(grouping: unproven.purchases) { part(of: $0.names) }
        let renewals = Dictionary(grouping: unproven.renewals) { part(of: $0.names) }
        for index in parts.indices {
            var more = CustomerFacts()
            more.add(proofs[index] ?? [])
            more.add(purchases[index] ?? [])
            more.add(renewals[index] ?? [])
            guard more.entryCount > 0 else { continue }
            let known = parts[index].facts
            parts[index].facts = try result(of: .sum(known, [more], isComplete: known.purchasesAreComplete))
        }
    }
}

/// The identities that determine to which customer a fact belongs, the most important one first.
extension AppProof {
    fileprivate var names: [Identity] { id.map { [Identity($0)] } ?? [] }
}

extension Purchase {
    fileprivate var names: [Identity] {
        [Identity(.originalTransactionID, originalTransactionID), Identity(.transactionID, transactionID)]
    }
}

extension Renewal {
    fileprivate var names: [Identity] { [Identity(.originalTransactionID, originalTransactionID)] }
}

extension Identity {
    fileprivate init(_ id: AcquisitionID) {
        switch id {
        case .appTransaction(let id): self.init(.appTransactionID, id)
        case .download(let id): self.init(.downloadID, id)
        }
    }
}
