import Foundation
import TenureCore

extension Ledger {
    func amend<Outcome>(
        _ identities: [Identity], in realm: Realm, adopting: (Customer) -> Bool,
        _ change: (Customer?) -> (Amendment, Outcome)
    ) throws(StoreError) -> (Customer, Outcome) {
        try amend(try resolve(identities, in: realm), adopting: adopting, change)
    }

    func amend<Outcome>(
        _ named: NamedMembers, adopting: (Customer) -> Bool, _ change: (Customer?) -> (Amendment, Outcome)
    ) throws(StoreError) -> (Customer, Outcome) {
        let (known, unknown) = try find(named, adopting: adopting)
        let former = try knowingOthers(try joined(known))
        let (amendment, outcome) = change(former)
        let identities = named.identities
        let customer = try write(amendment, of: former, in: named.realm)
        let all = Set(identities)
        // A customer who was erased meanwhile left identities behind that were still known when they were read.
        try insert(
            (former == nil ? identities : unknown) + amendment.identities.filter { !all.contains($0) },
            ofMember: customer.member, in: customer.realm)
        // The artifacts of an unbound record name the customers beside it.
        if !identities.contains(where: { $0.kind == .visit }) {
            try insert(
                amendment.facts.renewals(beyond: former?.facts), ofMember: customer.member, in: customer.realm)
        }
        try record(amendment, of: customer, instead: former)
        return (customer, outcome)
    }

    /// What is known of the customer from now on.
    func write(
        _ amendment: Amendment, of former: Customer?, in realm: Realm, encoded: EncodedFacts? = nil
    ) throws(StoreError) -> Customer {
        if let former { return try update(former, to: amendment.facts, amendment.announcement, encoded: encoded) }
        return try create(amendment.facts, in: realm, amendment.announcement)
    }

    /// What an act leaves beside the facts and the identities. `artifacts`: those that no piece wrote before.
    func record(
        _ amendment: Amendment, of customer: Customer, instead former: Customer?, artifacts: [Artifact]? = nil
    ) throws(StoreError) {
        try insert(artifacts ?? amendment.artifacts, of: customer, isNew: former == nil)
        try checkStanding(of: amendment, instead: former)
        for promise in amendment.promises {
            // Who is new is nobody else.
            let member = former == nil ? customer.member : try member(of: customer, having: promise.acquisition)
            try insert(promise, of: customer.named(as: member))
        }
        var jobs = amendment.jobs
        if let sighting = amendment.sighting, try insert(sighting, of: customer, isFirst: former == nil) {
            jobs.formUnion(amendment.jobsForNewDevice)
        }
        for kind in jobs.sorted(by: { $0.rawValue < $1.rawValue }) { try enqueue(kind, for: customer) }
        // Nothing signed says this, so that the ledger must, once. Where it is known of all of them, it was said.
        if amendment.completesPurchases, former?.facts.purchasesAreComplete != true {
            let wasSaid = former == nil ? false : try isComplete([customer.member])
            if !wasSaid { try append(.purchasesComplete, to: customer) }
        }
        // After the identities, so that a message names the users who belong to the customer now.
        for message in amendment.announcement.messages + amendment.messages { try tell(message, of: customer) }
    }

    /// Who of those that are one made the acquisition, as far as its ids tell; else the one who was named.
    private func member(of customer: Customer, having acquisition: AcquisitionKey) throws(StoreError) -> Int64 {
        let identities = [
            acquisition.appTransactionID.map { Identity(.appTransactionID, $0) },
            acquisition.downloadID.map { Identity(.downloadID, $0) },
        ]
        // Without the facts, which may hold thousands of purchases.
        let named = try resolve(identities.compactMap(\.self), in: customer.realm)
        return named.known.first { $0.root == customer.id }?.member ?? customer.member
    }

    /// Whom the identities name, without reading what is known of anybody.
    func resolve(_ identities: [Identity], in realm: Realm) throws(StoreError) -> NamedMembers {
        let members = try members(by: identities, in: realm)
        let roots = try Roots(of: Set(members.values), in: self)
        return NamedMembers(identities, in: realm, members: members, roots: roots.known, factsSize: roots.factsSize)
    }

    /// By member, who they turned out to be.
    func roots(of members: Set<Int64>) throws(StoreError) -> [Int64: Int64] { try Roots(of: members, in: self).known }

    /// All customers whom the identities name, the strongest first, and the identities that name nobody yet.
    ///
    /// `forUpdate`: not for those who only read. `limit`: how many customers at most.
    func find(
        _ named: NamedMembers, adopting: (Customer) -> Bool, forUpdate: Bool = true, limit: Int = .max
    ) throws(StoreError) -> (known: [Customer], unknown: [Identity]) {
        let leadsWithAccount = named.identities.first?.kind == .appTransactionID
        var met: Set<Int64> = []
        var known: [Customer] = []
        for (identity, member, root) in named.known where known.count < limit {
            // Each is loaded and looked at once, by whichever of their identities comes first.
            guard met.insert(root).inserted,
                let found = try customer(root, forUpdate: forUpdate)?.named(as: member)
            else { continue }
            // Merged into somebody else just before it was locked.
            guard found.id == root || met.insert(found.id).inserted else { continue }
            if identity.kind != .appTransactionID {
                // An app transaction's id is one account's. One that nobody knows is no word about somebody with
                // another, though they share a device.
                if leadsWithAccount, try hasAppTransactionID(found.id) { continue }
                guard adopting(found) else { continue }
            }
            known.append(found)
        }
        return (known, named.unknown)
    }

    private func hasAppTransactionID(_ customer: Int64) throws(StoreError) -> Bool {
        try hasAppTransactionID(among: try group(of: customer))
    }

    private func hasAppTransactionID(among group: [Int64]) throws(StoreError) -> Bool {
        try !rows(
            """
            SELECT 1 FROM identities
            WHERE customer IN \(RecordTable.batchPlaces) AND kind = \(Identity.Kind.appTransactionID.rawValue) LIMIT 1
            """, about: group
        ).isEmpty
    }

    /// Customers whom signed data names together are one: the first, with what the others proved.
    func joined(_ known: [Customer]) throws(StoreError) -> Customer? {
        guard let joining = try joining(known) else { return known.first }
        return try join(joining, as: joining.facts)
    }

    /// Who of these are one; nil where all stay who they are.
    func joining(_ known: [Customer]) throws(StoreError) -> Joining? {
        guard let first = known.first, known.count > 1 else { return nil }
        var ones = try Joinable(of: first, in: self)
        var others: [Customer] = []
        for other in known.dropFirst() {
            let theirs = try Joinable(of: other, in: self)
            guard ones.group.count + theirs.group.count <= Self.mostMembers, ones.mayBeOne(with: theirs),
                try !areSeparated(ones.group, theirs.group)
            else { continue }
            ones.add(theirs)
            others.append(other)
        }
        return others.isEmpty ? nil : Joining(first: first, others: others, group: ones.group)
    }

    /// `encoded`: the bytes of `facts`, where they were made before.
    func join(
        _ joining: Joining, as facts: CustomerFacts, encoded: EncodedFacts? = nil
    ) throws(StoreError) -> Customer {
        for other in joining.others { try point(other, to: joining.first, because: .signedTogether, actor: nil) }
        var facts = facts
        let wereComplete = facts.purchasesAreComplete
        facts.purchasesAreComplete = try purchasesAreComplete(of: joining.group)
        let isSame = facts.purchasesAreComplete == wereComplete
        return try update(joining.first, to: facts, encoded: isSame ? encoded : nil)
    }

    /// Customers who are one.
    struct Joining {
        let first: Customer
        let others: [Customer]
        /// The members of all of them.
        let group: [Int64]

        /// What is known of all of them. Whether all purchases are known the ledger says.
        var facts: CustomerFacts {
            var facts = first.facts
            facts.add(others.map(\.facts))
            return facts
        }
    }

    /// Those who are one, and what keeps them from being one with others.
    private struct Joinable {
        private(set) var group: [Int64]
        private var hasAccount: Bool
        /// Those whose app transactions are known.
        private var acquisitions: [AcquisitionKey]
        private var users: Set<String>

        init(of customer: Customer, in ledger: Ledger) throws(StoreError) {
            group = try ledger.group(of: customer.id)
            hasAccount = try ledger.hasAppTransactionID(among: group)
            acquisitions = TenureCore.acquisitions(in: customer.facts.proofs.filter { $0.kind != .receipt })
                .map(\.key)
            users = Set(try ledger.users(among: group))
        }

        /// Two customers who each have an app transaction are two, unless it is of one acquisition. What the app's
        /// server linked to two users, it alone can join.
        func mayBeOne(with other: Joinable) -> Bool {
            !(hasAccount && other.hasAccount) && mayHaveOneAcquisition(with: other)
                && (users.isEmpty || other.users.isEmpty || !users.isDisjoint(with: other.users))
        }

        private func mayHaveOneAcquisition(with other: Joinable) -> Bool {
            acquisitions.isEmpty || other.acquisitions.isEmpty
                || acquisitions.contains { mine in other.acquisitions.contains { mine.matches($0) } }
        }

        mutating func add(_ other: Joinable) {
            group += other.group
            hasAccount = hasAccount || other.hasAccount
            acquisitions += other.acquisitions
            users.formUnion(other.users)
        }
    }

    /// With whether all purchases are known of the other accounts of who are one.
    func knowingOthers(_ customer: Customer?) throws(StoreError) -> Customer? {
        guard var customer, !customer.facts.purchasesAreComplete, try hasMembers(customer.id) else { return customer }
        customer.othersAreComplete = try othersAreComplete(than: customer.member, among: try group(of: customer.id))
        return customer
    }
}

extension CustomerFacts {
    /// Transactions that no other identity names: the renewals of subscriptions that `known` does not have.
    func renewals(beyond known: CustomerFacts?) -> [Identity] {
        let renewals = purchases.filter { $0.transactionID != $0.originalTransactionID }
        guard !renewals.isEmpty else { return [] }
        let known = Set((known?.purchases ?? []).map(\.transactionID))
        return renewals.filter { !known.contains($0.transactionID) }
            .map { Identity(.transactionID, $0.transactionID) }
    }
}

/// Who the members turned out to be. Each customer is read once, many by one statement.
private struct Roots {
    /// By member; without those who are gone.
    private(set) var known: [Int64: Int64] = [:]
    /// Bytes of the facts of all of them.
    private(set) var factsSize = 0
    /// A single customer gets a statement of its own, so that little is asked for in vain.
    private static let one = "\(columns) FROM customers WHERE id = $1"
    private static let many = "\(columns) FROM customers WHERE id IN \(RecordTable.batchPlaces)"
    private static let columns = "SELECT id, merged_into, length(facts)"

    init(of members: Set<Int64>, in ledger: Ledger) throws(StoreError) {
        var parents: [Int64: Int64] = [:]
        var read: Set<Int64> = []
        var next = members
        while !next.isEmpty {
            read.formUnion(next)
            let rows =
                next.count == 1
                ? try ledger.session.rows(Self.one, next.map { .integer($0) })
                : try ledger.rows(Self.many, about: next.sorted())
            var merged: Set<Int64> = []
            for row in rows {
                let id = try row.integer(0)
                if let parent = try row.integerIfPresent(1) {
                    parents[id] = parent
                    merged.insert(parent)
                } else {
                    known[id] = id
                    factsSize += Int(clamping: try row.integer(2))
                }
            }
            next = merged.subtracting(read)
        }
        for member in members { known[member] = try root(of: member, parents) }
    }

    private func root(of member: Int64, _ parents: [Int64: Int64]) throws(StoreError) -> Int64? {
        var root = member
        for _ in 0...Ledger.mostMembers {
            guard let parent = parents[root] else { return known[root] }
            root = parent
        }
        throw .damaged("customer \(member) was merged in a circle")
    }
}
