import TenureCore

/// An update that was decided before the transaction that saves it.
///
/// A large customer has so many facts (`CustomerFacts`) that encoding them takes long. So they are encoded here,
/// outside the transaction. `LargeUpdate` prepares and saves such updates.
struct PreparedUpdate<Outcome: Sendable>: Sendable {
    /// The customer at the time of the decision.
    let formerCustomer: Customer
    /// The identity by which the customer was found; nil for a new customer.
    let identity: Identity?
    let update: CustomerUpdate
    let outcome: Outcome
    /// The facts after the update.
    let encoded: EncodedFacts
    /// The facts before the update. The transaction compares their bytes with the row instead of decoding the row.
    let knownFacts: EncodedFacts

    init(of former: Customer, foundBy identity: Identity?, _ update: CustomerUpdate, _ outcome: Outcome) {
        formerCustomer = former
        self.identity = identity
        self.update = update
        self.outcome = outcome
        encoded = EncodedFacts(update.facts)
        knownFacts = EncodedFacts(former.facts)
    }
}

/// Customers to be merged by `DatabaseTransaction.join`. Their facts are encoded before the transaction.
struct PreparedJoining: Sendable {
    /// The facts of each customer, by row ID. The transaction compares their bytes with the rows.
    let knownFacts: [Int64: EncodedFacts]
    /// The facts of all these customers together.
    let encoded: EncodedFacts
    private let ids: [Int64]

    init(_ joining: DatabaseTransaction.Joining) {
        let all = [joining.first] + joining.others
        ids = all.map(\.id)
        knownFacts = Dictionary(all.map { ($0.id, EncodedFacts($0.facts)) }) { $1 }
        encoded = EncodedFacts(joining.facts)
    }

    /// Whether the customers and their facts are still the same.
    func matches(_ joining: DatabaseTransaction.Joining) -> Bool {
        let all = [joining.first] + joining.others
        return ids == all.map(\.id) && all.allSatisfy { $0.facts == knownFacts[$0.id]?.facts }
    }
}

extension DatabaseTransaction {
    /// Locks and returns the customer of a prepared update. Returns nil if something changed on which the decision
    /// depended: which customer the identity names, a field of the customer, or `otherAccountsAreComplete`.
    func unchanged<Outcome>(_ prepared: PreparedUpdate<Outcome>, in realm: Realm) throws(StoreError) -> Customer? {
        let former = prepared.formerCustomer
        if let identity = prepared.identity, try member(by: identity, in: realm) != former.member { return nil }
        let locked = try customer(former.id, forUpdate: true)?.with(member: former.member)
        // `==` ignores `otherAccountsAreComplete`.
        guard let current = try withCompletenessOfOtherAccounts(locked), current == former,
            current.otherAccountsAreComplete == former.otherAccountsAreComplete
        else { return nil }
        return current
    }

    /// Locks the customer, so that updates of the same customer run one after the other. Returns false if the customer
    /// was erased, or merged into another.
    func stillExists(_ customer: Customer) throws(StoreError) -> Bool {
        guard let row = try member(.rowID(customer.id)) else { return false }
        return row.mergedInto == nil
    }
}
