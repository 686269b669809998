import TenureCore

/// Merges customers who have their IDs in the same signed data, unless something shows that they are different.
///
/// A *member* is a row of `customers`; a merged customer has several. An *acquisition* is one Apple Account getting the
/// app.
extension DatabaseTransaction {
    /// Merges customers who have their IDs in the same signed data into the first of them, which gets what the others
    /// proved. Customers that may not be merged stay separate.
    ///
    /// Returns the first customer after that (nil if `known` is empty), and the row IDs of this customer and of those
    /// that were merged into it.
    func joinCustomers(_ known: [Customer]) throws(StoreError) -> (customer: Customer?, joined: [Int64]) {
        guard let joining = try joining(known) else { return (known.first, known.prefix(1).map(\.id)) }
        return (try join(joining, as: joining.facts), [joining.first.id] + joining.others.map(\.id))
    }

    /// Returns the customers that can be merged into the first of these customers; nil if none can.
    func joining(_ known: [Customer]) throws(StoreError) -> Joining? {
        guard let first = known.first, known.count > 1 else { return nil }
        var joined = try Joinable(of: first, in: self)
        var others: [Customer] = []
        for other in known.dropFirst() {
            let candidate = try Joinable(of: other, in: self)
            guard joined.group.count + candidate.group.count <= Self.maximumMembers, joined.mayBeOne(with: candidate),
                try !areSeparated(joined.group, candidate.group)
            else { continue }
            joined.add(candidate)
            others.append(other)
        }
        return others.isEmpty ? nil : Joining(first: first, others: others, group: joined.group)
    }

    /// Merges the others into the first customer, and stores the facts of all of them.
    ///
    /// - Parameter encoded: the same facts, if they were encoded before the transaction.
    func join(
        _ joining: Joining, as facts: CustomerFacts, encoded: EncodedFacts? = nil
    ) throws(StoreError) -> Customer {
        for other in joining.others { try storeMerge(other, into: joining.first, because: .signedTogether, actor: nil) }
        var facts = facts
        let wereComplete = facts.purchasesAreComplete
        facts.purchasesAreComplete = try purchasesAreComplete(of: joining.group)
        // `encoded` contains the former value of `purchasesAreComplete`.
        let isEncodedCurrent = facts.purchasesAreComplete == wereComplete
        return try update(joining.first, to: facts, encoded: isEncodedCurrent ? encoded : nil)
    }

    /// Customers to be merged into the first of them.
    struct Joining {
        let first: Customer
        let others: [Customer]
        /// The row IDs of the members of all these customers.
        let group: [Int64]

        /// The facts of all these customers together. `join` replaces `purchasesAreComplete`, which depends on the
        /// members' events.
        var facts: CustomerFacts {
            var facts = first.facts
            facts.add(others.map(\.facts))
            return facts
        }
    }

    /// What decides whether a customer may be merged with another: its members, accounts, acquisitions and users.
    private struct Joinable {
        /// The row IDs of the customer's members.
        private(set) var group: [Int64]
        /// Whether one of the members has the ID of an app transaction, which identifies one App Store account.
        private var hasAccount: Bool
        /// The customer's acquisitions of the app that an app transaction proves.
        private var acquisitions: [AcquisitionKey]
        /// The app's users to which the app's server linked the customer.
        private var users: Set<String>

        init(of customer: Customer, in transaction: DatabaseTransaction) throws(StoreError) {
            group = try transaction.group(of: customer.id)
            hasAccount = try transaction.hasAppTransactionID(among: group)
            acquisitions = TenureCore.acquisitions(in: customer.facts.proofs.filter { $0.kind != .receipt }).map(\.key)
            users = Set(try transaction.users(among: group))
        }

        /// Whether both customers may be merged. Customers with app transactions of different acquisitions stay
        /// separate. Only the app's server can merge customers that it linked to different users.
        func mayBeOne(with other: Joinable) -> Bool {
            let mayHaveOneAcquisition =
                acquisitions.isEmpty || other.acquisitions.isEmpty
                || acquisitions.contains { mine in other.acquisitions.contains { mine.matches($0) } }
            return !(hasAccount && other.hasAccount) && mayHaveOneAcquisition
                && (users.isEmpty || other.users.isEmpty || !users.isDisjoint(with: other.users))
        }

        mutating func add(_ other: Joinable) {
            group += other.group
            hasAccount = hasAccount || other.hasAccount
            acquisitions += other.acquisitions
            users.formUnion(other.users)
        }
    }

    /// Returns the customer with `otherAccountsAreComplete`: whether all purchases of the customer's other accounts are
    /// known. Returns the customer unchanged if all its purchases are known, or if no other customer was merged into
    /// it.
    func withCompletenessOfOtherAccounts(_ customer: Customer?) throws(StoreError) -> Customer? {
        guard var customer, !customer.facts.purchasesAreComplete, try isMerged(customer.id) else { return customer }
        customer.otherAccountsAreComplete = try otherAccountsAreComplete(
            than: customer.member, among: try group(of: customer.id))
        return customer
    }
}
