import TenureCore

/// The customer whom the identities of an update name.
package struct FoundCustomer {
    /// The customer; nil if the identities name no customer yet.
    package let customer: Customer?
    /// What each of the identities names.
    let namedMembers: NamedMembers
    /// Original transaction IDs in the update that name another customer, who wasn't merged with this customer.
    let purchasesOfOthers: [String]
}

/// Finds the customer whom an update is about, and saves the update in one transaction.
extension DatabaseTransaction {
    /// Finds and locks the customer whom a plan's identities name. If they name several customers, these customers are
    /// merged into one, unless something shows that they are different people.
    ///
    /// Returns nil if the customer's data is too large for one transaction, or if one of the customers is being erased.
    package func findCustomer(_ plan: CustomerUpdatePlan) throws(StoreError) -> FoundCustomer? {
        let named = try resolve(plan.identities, in: plan.realm)
        guard named.factsSize <= Self.maximumFactsBytesPerTransaction, !named.includesErased else { return nil }
        return try findCustomer(named, proving: plan.acquisition)
    }

    /// The same for identities that were resolved already, and without a limit for the customer's data.
    func findCustomer(
        _ named: NamedMembers, proving acquisition: ProvenAcquisition?
    ) throws(StoreError) -> FoundCustomer {
        let (customer, joined) = try joinCustomers(try find(named, proving: acquisition))
        return FoundCustomer(
            customer: try withCompletenessOfOtherAccounts(customer), namedMembers: named,
            purchasesOfOthers: named.purchases(ofOthersThan: joined))
    }

    /// Saves what an update adds to the customer, or creates the customer.
    package func save(_ update: CustomerUpdate, of found: FoundCustomer) throws(StoreError) -> Customer {
        let former = found.customer
        let identities = found.namedMembers.identities
        let customer = try write(update, of: former, in: found.namedMembers.realm)
        let all = Set(identities)
        // For a new customer, all identities are stored: they may have named a customer who was erased in the meantime.
        let new = former == nil ? identities : found.namedMembers.unknownIdentities
        try insert(new + update.identities.filter { !all.contains($0) }, ofMember: customer.member, in: customer.realm)
        // Skipped for an unbound customer (artifacts that came without proof that they belong to the sender): these
        // identities name the customers to whom it is linked.
        if !identities.contains(where: { $0.kind == .unbound }) {
            try insert(
                update.facts.renewals(beyond: former?.facts)
                    + found.purchasesOfOthers.map { Identity(sharedPurchase: $0, of: customer.member) },
                ofMember: customer.member, in: customer.realm)
        }
        try record(update, of: customer, former: former)
        return customer
    }

    /// Writes the customer's facts, or creates the customer with these facts if `former` is nil.
    ///
    /// - Parameter encoded: the same facts, if they were encoded before the transaction.
    func write(
        _ update: CustomerUpdate, of former: Customer?, in realm: Realm, encoded: EncodedFacts? = nil
    ) throws(StoreError) -> Customer {
        if let former { return try self.update(former, to: update.facts, update.entitlementChange, encoded: encoded) }
        return try create(update.facts, in: realm, update.entitlementChange)
    }

    /// Writes what an update adds besides the facts and the identities: artifacts, promises (`StoredPromise`), the use
    /// of a device, jobs, events and webhook messages.
    ///
    /// - Parameters:
    ///   - former: the customer before the update; nil for a new customer.
    ///   - artifacts: the artifacts that earlier transactions of the update haven't written; nil for all.
    func record(
        _ update: CustomerUpdate, of customer: Customer, former: Customer?, artifacts: [Artifact]? = nil
    ) throws(StoreError) {
        try insert(artifacts ?? update.artifacts, of: customer, isNew: former == nil)
        try checkPolicy(of: update, former: former)
        for promise in update.promises {
            // A new customer has one member (row of `customers`); a merged customer has several.
            let member = former == nil ? customer.member : try member(of: customer, having: promise.acquisition)
            try insert(promise, of: customer.with(member: member))
        }
        var fetchesHistory = update.fetchesHistory
        if let use = update.deviceUse, try insert(use, of: customer, isFirst: former == nil) {
            fetchesHistory = fetchesHistory || update.fetchesHistoryForNewDevice
        }
        if fetchesHistory { try enqueueJob(for: customer) }
        // No artifact says that all purchases are known, so an event stores it, once.
        if update.completesPurchases, former?.facts.purchasesAreComplete != true {
            let isRecorded = former == nil ? false : try !membersWithAllPurchases(among: [customer.member]).isEmpty
            if !isRecorded { try append(.purchasesComplete, to: customer) }
        }
        // Messages are queued after the identities are written, so that they name all users of the customer.
        for message in update.entitlementChange.messages + update.messages { try queue(message, about: customer) }
    }

    /// Returns the row ID of the member that the acquisition's IDs name, or else of the member that the update named.
    private func member(of customer: Customer, having acquisition: AcquisitionKey) throws(StoreError) -> Int64 {
        let identities = [
            acquisition.appTransactionID.map { Identity(.appTransactionID, $0) },
            acquisition.downloadID.map { Identity(.downloadID, $0) },
        ]
        // Doesn't read the facts, which may have thousands of purchases.
        let named = try resolve(identities.compactMap(\.self), in: customer.realm)
        return named.knownIdentities.first { $0.survivor == customer.id }?.member ?? customer.member
    }

    /// Returns all customers whom the identities name, in the order of the identities' kinds.
    ///
    /// An app transaction ID is always right about its customer. A customer whom only other identities name is skipped
    /// in two cases: their proofs contradict `acquisition`, or they and the update have different app transaction IDs.
    ///
    /// - Parameters:
    ///   - acquisition: what the update proves about how the customer got the app; nil if it proves nothing.
    ///   - forUpdate: whether to lock the customers. A transaction that only reads can't lock them.
    ///   - limit: the maximum number of customers to return.
    func find(
        _ named: NamedMembers, proving acquisition: ProvenAcquisition?, forUpdate: Bool = true, limit: Int = .max
    ) throws(StoreError) -> [Customer] {
        // The identities are sorted by kind, and app transaction IDs come first.
        let namesAppTransaction = named.identities.first?.kind == .appTransactionID
        var met: Set<Int64> = []
        var customers: [Customer] = []
        for (identity, member, survivor) in named.knownIdentities {
            guard customers.count < limit else { break }
            // Each customer is loaded once, for the first identity that names them.
            guard met.insert(survivor).inserted,
                let found = try customer(survivor, forUpdate: forUpdate)?.with(member: member)
            else { continue }
            // The customer may have been merged just before it was locked. Then the result is the customer into which
            // it was merged, who may be in the list already.
            guard found.id == survivor || met.insert(found.id).inserted else { continue }
            if identity.kind != .appTransactionID {
                // The ID of an app transaction belongs to one account. An update with such an ID isn't about a customer
                // who has only other such IDs, even if both accounts share a device.
                if namesAppTransaction, try hasAppTransactionID(found.id) { continue }
                guard acquisition?.mayBelong(to: found) ?? true else { continue }
            }
            customers.append(found)
        }
        return customers
    }

    /// Whether a member of this customer has an app transaction ID.
    private func hasAppTransactionID(_ id: Int64) throws(StoreError) -> Bool {
        // Usually, the customer's own row has such an ID. This saves the queries for all members, for which SQLite
        // needs temporary tables.
        if try session.row(Self.selectAppTransactionID, [.integer(id)]) != nil { return true }
        return try hasAppTransactionID(among: try group(of: id))
    }

    private static let selectAppTransactionID =
        "SELECT 1 FROM identities WHERE customer = $1 AND kind = \(Identity.Kind.appTransactionID.rawValue) LIMIT 1"

    /// Whether one of these members has an app transaction ID.
    func hasAppTransactionID(among group: [Int64]) throws(StoreError) -> Bool {
        try !rows(
            """
            SELECT 1 FROM identities
            WHERE customer IN \(Self.batch) AND kind = \(Identity.Kind.appTransactionID.rawValue) LIMIT 1
            """, about: group
        ).isEmpty
    }
}

extension CustomerFacts {
    /// The identities of the renewals (later transactions of a subscription) in these facts that `known` doesn't have.
    /// No other identity names a renewal.
    func renewals(beyond known: CustomerFacts?) -> [Identity] {
        let renewals = purchases.filter { $0.transactionID != $0.originalTransactionID }
        guard !renewals.isEmpty else { return [] }
        let known = Set((known?.purchases ?? []).map(\.transactionID))
        return renewals.filter { !known.contains($0.transactionID) }.map { Identity(.transactionID, $0.transactionID) }
    }
}
