import Foundation
import TenureCore

extension Ledger {
    func amend<Outcome>(
        _ identities: [Identity], in realm: Realm, adopting: (Customer) -> Bool,
        _ change: (Customer?) -> (Amendment, Outcome)
    ) throws(StoreError) -> (Customer, Outcome) {
        let (known, unknown) = try find(identities, in: realm, adopting: adopting)
        let former = try knowingOthers(try joined(known))
        let (amendment, outcome) = change(former)
        let customer: Customer
        if let former {
            customer = try update(former, to: amendment.facts, amendment.announcement)
        } else {
            for identity in identities where identity.kind == .visit { try makeRoom(for: identity, in: realm) }
            customer = try create(amendment.facts, in: realm, amendment.announcement)
        }
        for identity in unknown + amendment.identities.filter({ !identities.contains($0) }) {
            try insert(identity, of: customer)
        }
        try insert(amendment.artifacts, of: customer, isNew: former == nil)
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
        // Visitors bring nothing that the customer whom it names does not have.
        let isVisit = identities.contains { $0.kind == .visit }
        if !isVisit { try index(amendment.facts.purchases, beyond: former?.facts.purchases ?? [], of: customer) }
        // Nothing signed says this, so that the ledger must, once. Where it is known of all of them, it was said.
        if amendment.completesPurchases, former?.facts.purchasesAreComplete != true {
            let wasSaid = former == nil ? false : try isComplete([customer.member])
            if !wasSaid { try append(.purchasesComplete, to: customer) }
        }
        // After the identities, so that a message names the users who belong to the customer now.
        for message in amendment.announcement.messages + amendment.messages { try tell(message, of: customer) }
        return (customer, outcome)
    }

    /// As `amend`, where the customer is still there; else nil.
    func amend<Outcome>(
        _ former: Customer, by identities: [Identity], _ change: (Customer?) -> (Amendment, Outcome)
    ) throws(StoreError) -> (Customer, Outcome)? {
        guard try customer(former.member, forUpdate: true) != nil else { return nil }
        return try amend(identities, in: former.realm, adopting: { _ in true }, change)
    }

    /// Who of those that are one made the acquisition, as far as its ids tell; else the one who was named.
    private func member(of customer: Customer, having acquisition: AcquisitionKey) throws(StoreError) -> Int64 {
        let identities = [
            acquisition.appTransactionID.map { Identity(.appTransactionID, $0) },
            acquisition.downloadID.map { Identity(.downloadID, $0) },
        ]
        for case let identity? in identities {
            if let found = try self.customer(by: identity, in: customer.realm), found.id == customer.id {
                return found.member
            }
        }
        return customer.member
    }

    /// Makes transactions findable that no identity names: the renewals of a subscription.
    private func index(
        _ purchases: [Purchase], beyond known: [Purchase], of customer: Customer
    ) throws(StoreError) {
        guard purchases.contains(where: { $0.transactionID != $0.originalTransactionID }) else { return }
        let known = Set(known.map(\.transactionID))
        for purchase in purchases
        where purchase.transactionID != purchase.originalTransactionID && !known.contains(purchase.transactionID) {
            try insert(Identity(.transactionID, purchase.transactionID), of: customer)
        }
    }

    /// All customers whom the identities name, the strongest first, and the identities that name nobody yet.
    private func find(
        _ identities: [Identity], in realm: Realm, adopting: (Customer) -> Bool
    ) throws(StoreError) -> (known: [Customer], unknown: [Identity]) {
        let byStrength = identities.count > 1 ? identities.sorted { $0.kind < $1.kind } : identities
        var known: [Customer] = []
        var unknown: [Identity] = []
        for identity in byStrength {
            guard let found = try customer(by: identity, in: realm, forUpdate: true) else {
                unknown.append(identity)
                continue
            }
            guard !known.contains(where: { $0.id == found.id }) else { continue }
            if identity.kind != .appTransactionID {
                // An app transaction's id is one account's. One that nobody knows is no word about somebody with
                // another, though they share a device.
                if byStrength.first?.kind == .appTransactionID, try hasAppTransactionID(found.id) { continue }
                guard adopting(found) else { continue }
            }
            known.append(found)
        }
        return (known, unknown)
    }

    private func hasAppTransactionID(_ customer: Int64) throws(StoreError) -> Bool {
        for member in try group(of: customer) {
            let row = try session.row(
                "SELECT 1 FROM identities WHERE customer = $1 AND kind = $2 LIMIT 1",
                [.integer(member), SQLValue(Identity.Kind.appTransactionID.rawValue)])
            if row != nil { return true }
        }
        return false
    }

    /// Customers whom signed data names together are one: the first, with what the others proved.
    private func joined(_ known: [Customer]) throws(StoreError) -> Customer? {
        guard var first = known.first else { return nil }
        for other in known.dropFirst() where try mayBeOne(first, other) {
            first = try merge(other, into: first, because: .signedTogether, actor: nil)
        }
        return first
    }

    /// With whether all purchases are known of the other accounts of who are one.
    private func knowingOthers(_ customer: Customer?) throws(StoreError) -> Customer? {
        guard var customer, !customer.facts.purchasesAreComplete, try hasMembers(customer.id) else { return customer }
        customer.othersAreComplete = try othersAreComplete(than: customer.member, among: try group(of: customer.id))
        return customer
    }

    private func mayBeOne(_ first: Customer, _ other: Customer) throws(StoreError) -> Bool {
        guard mayJoin(try group(of: first.id), try group(of: other.id)) else { return false }
        if try hasAppTransactionID(first.id), try hasAppTransactionID(other.id) { return false }
        // What the app's server linked to two users, it alone can join.
        let (ones, others) = (Set(try users(of: first.id)), Set(try users(of: other.id)))
        if !ones.isEmpty, !others.isEmpty, ones.isDisjoint(with: others) { return false }
        return try !areSeparated(first.id, other.id)
    }
}
