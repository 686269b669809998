import Foundation
import TenureCore

/// Splits merged customers into two.
///
/// A merge keeps both rows of `customers`, and sets `merged_into` of one row to the other. So the rows (members) of a
/// merged customer form a tree, and a split makes two trees of it.
extension DatabaseTransaction {
    /// Undoes the merge of a member. The member, and the members that were merged into it, become a separate customer
    /// again.
    ///
    /// For example, 3 was merged into 2, and 2 into 1. After 2 is split off, the customer 1 has one member, and the
    /// customer 2 has the members 2 and 3. The facts of both are computed from their own rows.
    ///
    /// - Parameters:
    ///   - isPermanent: whether the customers stay separate if later signed data names both.
    ///   - detail: the reason for the split, for the events of both customers.
    func splitOff(
        _ member: CustomerMember, isPermanent: Bool, actor: String?, detail: [String: String]
    ) throws(StoreError) {
        let former = try customer(of: member)
        guard former.id != member.id else { return }
        try mergeMember(member.id, into: nil)
        if isPermanent {
            // The members are never merged automatically again.
            for other in try group(of: former.id) where other != member.id {
                try session.execute(
                    "INSERT INTO separations (first, second) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                    [.integer(min(member.id, other)), .integer(max(member.id, other))])
            }
        }
        let parts = try restore([former.id, member.id], of: former)
        // The event of each customer names the other customer.
        for (customer, publicID) in zip(parts, [member.publicID, former.publicID]) {
            try append(.unmerged, to: customer, actor: actor, detail: detail.merging(["customer": publicID]) { $1 })
        }
    }

    /// Splits a customer into two: the taken members, and the rest. If a taken member was merged with a member of the
    /// rest, that merge ends. Returns the row ID of each customer's survivor (the row with the facts); nil if all
    /// members are taken.
    ///
    /// For example, 2 and 4 were merged into 1, and 3 into 2. After 1 and 3 are taken, 3 is merged into 1, and 4 into
    /// 2. The result is 2 for the rest, and 1 for the taken members.
    func split(_ taken: [Int64], from group: [Int64]) throws(StoreError) -> (rest: Int64, taken: Int64)? {
        let rest = group.filter { !taken.contains($0) }
        guard !rest.isEmpty else { return nil }
        var parents: [Int64: Int64] = [:]
        var members: [Int64: CustomerMember] = [:]
        for id in group {
            members[id] = try member(.rowID(id))
            parents[id] = members[id]?.mergedInto
        }
        // The number of members in the chain of merges from this member to the customer, itself included.
        func depth(_ id: Int64) -> Int {
            sequence(first: id) { parents[$0] }.prefix(Self.maximumMembers + 1).reduce(0) { count, _ in count + 1 }
        }
        // Makes these members a separate customer, and ends their merges with other members. Returns the survivor.
        func rewire(_ side: [Int64]) throws(StoreError) -> Int64 {
            // The survivor isn't merged, directly or indirectly, into another member of this side. So merging the other
            // members into it makes no circle.
            let survivor = side.min { (depth($0), $0) < (depth($1), $1) } ?? side[0]
            for id in side {
                guard let parent = parents[id], id == survivor || !side.contains(parent) else { continue }
                try mergeMember(id, into: id == survivor ? nil : survivor)
                guard id != survivor, let member = members[id] else { continue }
                // The event with the reason for the merge may belong to a member on the other side.
                let detail = try mergeDetail(of: member, among: group)
                if !detail.isEmpty { try append(.merged, toMember: survivor, actor: nil, detail: detail) }
            }
            return survivor
        }
        return (try rewire(rest), try rewire(taken))
    }

    /// Removes the separations between two customers, because support merges them.
    func forgetSeparations(between one: Int64, and other: Int64) throws(StoreError) {
        let (ones, others) = (try group(of: one), try group(of: other))
        for one in ones {
            for other in others {
                try session.execute(
                    "DELETE FROM separations WHERE first = $1 AND second = $2",
                    [.integer(min(one, other)), .integer(max(one, other))])
            }
        }
    }

    /// The detail of the last event about a merge of this member into another. It contains the reason, and the user's
    /// ID if the app's server linked both customers to one user. Empty if there is no such event.
    func mergeDetail(of member: CustomerMember, among group: [Int64]) throws(StoreError) -> [String: String] {
        var latest: StoredEvent?
        for other in group {
            for event in try events(of: other)
            where event.kind == .merged && event.detail["customer"] == member.publicID {
                // Of several events at the same time, the last one counts.
                if event.at >= latest?.at ?? .distantPast { latest = event }
            }
        }
        return latest?.detail ?? [:]
    }

    // MARK: Facts

    // Computes the facts of two customers again after they were split.
    //
    // The survivor's row has the facts of all members together, and doesn't say which fact came from whom. So the facts
    // of each customer are computed again from what its members stored: signed artifacts and notifications, promises
    // (`StoredPromise`), and grants and revocations by support.

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
    /// - Parameter former: the customer before the split.
    func restore(_ ids: [Int64], of former: Customer) throws(StoreError) -> [Customer] {
        // First, the facts that each side's own rows prove.
        var parts: [Part] = []
        for id in ids {
            guard let customer = try customer(id, forUpdate: true) else { throw .damaged("customer \(id) is missing") }
            var part = Part(customer: customer, members: try group(of: customer.id))
            let own = try part.members.map { member throws(StoreError) in try facts(of: member) }.flatMap { $0 }
            part.facts = try result(
                of: .sum(CustomerFacts(), own, isComplete: try purchasesAreComplete(of: part.members)))
            parts.append(part)
        }
        // Then, the facts of the former customer that neither side's rows prove.
        try distribute(former, among: &parts)
        // These rows make a publication that is being prepared evaluate the customers again.
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
    private func facts(of member: Int64) throws(StoreError) -> [CustomerFacts] {
        // Most signatures were verified before the transaction. Entries that were stored since then are verified here.
        guard let largeFacts, let rederivation = largeFacts.rederivation
        else { throw .defect("a customer is split without a verifier") }
        var proven = largeFacts.provenFacts(of: member)
        var (pages, end) = ([CustomerFacts](), proven.end)
        while let entries = try signedEntries(of: member, after: end, limit: Rederivation.pageSize), !entries.isEmpty {
            let count = proven.facts.entryCount + entries.artifacts.count + entries.notifications.count
            if count > LargeFacts.maximumEntriesProvenInTransaction { throw largeFacts.miss(.provenFacts(member)) }
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
        // The first member with the maximum number of artifacts.
        var fullMember: Int64?
        for id in parts.flatMap(\.members).sorted() {
            if fullMember == nil, try artifactCount(of: id) >= Self.maximumArtifactsPerMember { fullMember = id }
        }
        // Without such a member, a stored artifact proves every fact.
        guard let fullMember, let fallback = parts.firstIndex(where: { $0.members.contains(fullMember) })
        else { return }
        let unproven = try result(of: .remainder(former.facts, without: parts.map(\.facts)))
        let names =
            unproven.proofs.flatMap(\.names) + unproven.purchases.flatMap(\.names) + unproven.renewals.flatMap(\.names)
        let owners = try members(by: Array(Set(names)), in: former.realm)
        func part(of names: [Identity]) -> Int {
            let owner = names.lazy.compactMap { owners[$0] }.first ?? fullMember
            return parts.firstIndex { $0.members.contains(owner) } ?? fallback
        }
        for index in parts.indices {
            var more = CustomerFacts()
            more.add(unproven.proofs.filter { part(of: $0.names) == index })
            more.add(unproven.purchases.filter { part(of: $0.names) == index })
            more.add(unproven.renewals.filter { part(of: $0.names) == index })
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
