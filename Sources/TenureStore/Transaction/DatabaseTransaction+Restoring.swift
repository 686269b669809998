import Foundation
import TenureCore

extension DatabaseTransaction {
    /// One of those who parted.
    private struct Part {
        let customer: Customer
        let members: [Int64]
        var facts = CustomerFacts()
    }

    /// What each of those who parted has, from what was written of them; the world is told of it anew.
    ///
    /// `former`: who they were together.
    func restore(
        _ roots: [Int64], of former: Customer, by rederivation: Rederivation
    ) throws(StoreError) -> [Customer] {
        var parts: [Part] = []
        for root in roots {
            guard let customer = try customer(root, forUpdate: true) else {
                throw .damaged("customer \(root) is not there")
            }
            var part = Part(customer: customer, members: try group(of: customer.id))
            part.facts.add(
                try part.members.map { member throws(StoreError) in try facts(of: member, by: rederivation) })
            part.facts.purchasesAreComplete = try purchasesAreComplete(of: part.members)
            parts.append(part)
        }
        try distribute(former, among: &parts)
        return try parts.map { part throws(StoreError) in
            let customer = try update(part.customer, to: part.facts)
            try session.execute(
                "UPDATE customers SET next_end = $1 WHERE id = $2 AND EXISTS (SELECT 1 FROM endpoints)",
                [milliseconds, .integer(customer.id)])
            return customer
        }
    }

    /// What was written of one member alone.
    private func facts(of member: Int64, by rederivation: Rederivation) throws(StoreError) -> CustomerFacts {
        var proven = rederivation.proven[member] ?? Rederivation.Proven()
        var (pages, end) = ([CustomerFacts](), proven.end)
        while let entries = try signedEntries(of: member, after: end, limit: Rederivation.pageSize), !entries.isEmpty {
            pages.append(try rederivation.prove(entries))
            end = entries.end
        }
        proven.add(pages, upTo: end)
        var facts = proven.facts
        facts.add(try promises(of: member))
        for support in try supportGrants(of: member) { facts.add(support.grant) }
        return facts
    }

    /// What came when the ledger of a member was full is known and stands nowhere else: it goes to whom it names, or
    /// where it names nobody, to the first whose ledger is full.
    private func distribute(_ former: Customer, among parts: inout [Part]) throws(StoreError) {
        var full: Int64?
        for member in parts.flatMap(\.members).sorted() where full == nil {
            if try artifactCount(of: member) >= Self.artifactsPerCustomer { full = member }
        }
        guard let full else { return }
        var written = CustomerFacts()
        for part in parts { written.add(part.facts) }
        func give(
            _ identities: [Identity], _ add: (inout CustomerFacts) -> Void
        ) throws(StoreError) {
            var owner: Int64?
            for identity in identities where owner == nil { owner = try member(by: identity, in: former.realm) }
            guard
                let index = parts.firstIndex(where: { $0.members.contains(owner ?? full) })
                    ?? parts.firstIndex(where: { $0.members.contains(full) })
            else { return }
            add(&parts[index].facts)
        }
        for proof in former.facts.proofs where !written.proofs.contains(proof) {
            try give(proof.id.map { [Identity($0)] } ?? []) { $0.add([proof]) }
        }
        for purchase in former.facts.purchases where !written.purchases.contains(purchase) {
            try give([
                Identity(.originalTransactionID, purchase.originalTransactionID),
                Identity(.transactionID, purchase.transactionID),
            ]) { $0.add([purchase]) }
        }
        for renewal in former.facts.renewals where !written.renewals.contains(renewal) {
            try give([Identity(.originalTransactionID, renewal.originalTransactionID)]) { $0.add([renewal]) }
        }
    }
}

extension Identity {
    fileprivate init(_ id: AcquisitionID) {
        switch id {
        case .appTransaction(let id): self.init(.appTransactionID, id)
        case .download(let id): self.init(.downloadID, id)
        }
    }
}
