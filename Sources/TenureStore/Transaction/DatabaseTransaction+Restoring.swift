import Foundation
import TenureCore

/// Derives the facts of two customers after they were split.
extension DatabaseTransaction {
    /// One of the customers after a split, with the facts from its own rows.
    private struct Part {
        let customer: Customer
        let members: [Int64]
        var facts = CustomerFacts()
    }

    /// Derives the facts of each customer after a split from the customer's own rows. Webhooks compare these customers
    /// next.
    ///
    /// `former` is the customer before the split.
    func restore(
        _ roots: [Int64], of former: Customer, by rederivation: Rederivation
    ) throws(StoreError) -> [Customer] {
        var parts: [Part] = []
        for root in roots {
            guard let customer = try customer(root, forUpdate: true) else {
                throw .damaged("customer \(root) is missing")
            }
            var part = Part(customer: customer, members: try group(of: customer.id))
            var own: [CustomerFacts] = []
            for member in part.members { own += try facts(of: member, by: rederivation) }
            part.facts = try combined(
                CustomerFacts(), with: own, isComplete: try purchasesAreComplete(of: part.members))
            parts.append(part)
        }
        try distribute(former, among: &parts)
        for part in parts { try recordDepartures(part.members) }
        return try parts.map { part throws(StoreError) in
            let customer = try update(part.customer, to: part.facts)
            try session.execute(
                "UPDATE customers SET next_comparison = $1 WHERE id = $2 AND EXISTS (SELECT 1 FROM endpoints)",
                [milliseconds, .integer(customer.id)])
            return customer
        }
    }

    /// The facts of one member: from signed entries, promises, and support.
    private func facts(of member: Int64, by rederivation: Rederivation) throws(StoreError) -> [CustomerFacts] {
        var proven = largeFacts?.proven(of: member) ?? rederivation.proven[member] ?? Rederivation.Proven()
        var (pages, end) = ([CustomerFacts](), proven.end)
        while let entries = try signedEntries(of: member, after: end, limit: Rederivation.pageSize), !entries.isEmpty {
            let count = proven.facts.entryCount + entries.artifacts.count + entries.notifications.count
            if let largeFacts, count > LargeFacts.maximumEntriesToProve { throw largeFacts.miss(.proven(member)) }
            pages.append(try rederivation.prove(entries))
            end = entries.end
        }
        proven.add(pages, upTo: end)
        var decided = CustomerFacts()
        decided.add(try promises(of: member))
        for support in try supportGrants(of: member) { decided.add(support.grant) }
        return [proven.facts, decided]
    }

    /// Distributes the facts without stored artifacts: a member had too many artifacts to store. Each fact goes to the
    /// customer that it names, or else to the first customer with such a member.
    private func distribute(_ former: Customer, among parts: inout [Part]) throws(StoreError) {
        var full: Int64?
        for member in parts.flatMap(\.members).sorted() where full == nil {
            if try artifactCount(of: member) >= Self.artifactsPerCustomer { full = member }
        }
        guard let full, let fallback = parts.firstIndex(where: { $0.members.contains(full) }) else { return }
        // The facts that no stored row of any part proves.
        let rest = try remainder(of: former.facts, without: parts.map(\.facts))
        let names =
            rest.proofs.flatMap(\.names) + rest.purchases.flatMap(\.names) + rest.renewals.flatMap(\.names)
        let owners = try members(by: Array(Set(names)), in: former.realm)
        func part(of names: [Identity]) -> Int {
            let owner = names.lazy.compactMap { owners[$0] }.first ?? full
            return parts.firstIndex { $0.members.contains(owner) } ?? fallback
        }
        let proofs = Dictionary(grouping: rest.proofs) { part(of: $0.names) }
        let purchases = Dictionary(grouping: rest.purchases) { part(of: $0.names) }
        let renewals = Dictionary(grouping: rest.renewals) { part(of: $0.names) }
        for index in parts.indices {
            var more = CustomerFacts()
            more.add(proofs[index] ?? [])
            more.add(purchases[index] ?? [])
            more.add(renewals[index] ?? [])
            guard more.entryCount > 0 else { continue }
            let known = parts[index].facts
            parts[index].facts = try combined(known, with: [more], isComplete: known.purchasesAreComplete)
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
