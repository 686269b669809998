import TenureCore

/// An act that was worked out before the transaction that writes it.
struct PreparedAmendment<Outcome: Sendable>: Sendable {
    /// The customer on whom it rests.
    let former: Customer
    /// What named them; nil for somebody new.
    let identity: Identity?
    let amendment: Amendment
    let outcome: Outcome
    let encoded: EncodedFacts
    let remembered: EncodedFacts

    init(of former: Customer, by identity: Identity?, _ amendment: Amendment, _ outcome: Outcome) {
        self.former = former
        self.identity = identity
        self.amendment = amendment
        self.outcome = outcome
        encoded = EncodedFacts(amendment.facts)
        remembered = EncodedFacts(former.facts)
    }
}

/// Customers who are one, with what is known of all of them.
struct PreparedJoining: Sendable {
    let remembered: [Int64: EncodedFacts]
    let encoded: EncodedFacts
    private let ids: [Int64]

    init(_ joining: Ledger.Joining) {
        let all = [joining.first] + joining.others
        ids = all.map(\.id)
        remembered = Dictionary(all.map { ($0.id, EncodedFacts($0.facts)) }) { $1 }
        encoded = EncodedFacts(joining.facts)
    }

    /// Whether it rests on the same.
    func isOf(_ joining: Ledger.Joining) -> Bool {
        let all = [joining.first] + joining.others
        return ids == all.map(\.id) && all.allSatisfy { $0.facts == remembered[$0.id]?.facts }
    }
}

extension Ledger {
    /// The customer, locked, where they are as they were; else nil.
    func unchanged<Outcome>(
        _ prepared: PreparedAmendment<Outcome>, in realm: Realm
    ) throws(StoreError) -> Customer? {
        let former = prepared.former
        if let identity = prepared.identity, try member(by: identity, in: realm) != former.member { return nil }
        guard let now = try knowingOthers(try customer(former.id, forUpdate: true)?.named(as: former.member)),
            now == former, now.othersAreComplete == former.othersAreComplete
        else { return nil }
        return now
    }

    /// Whether nobody erased the customer, or joined them with another. Locked: acts on one customer happen one after
    /// the other.
    func isThere(_ customer: Customer) throws(StoreError) -> Bool {
        guard let row = try member(.number(customer.id)) else { return false }
        return row.mergedInto == nil
    }
}
