import Foundation
package import TenureCore

/// What a customer's artifacts prove, with promises and support grants: everything that a decision needs.
///
/// Facts are stored with the customer, so that a decision needs one look-up. They can be computed again from the
/// customer's other rows.
package struct CustomerFacts: Sendable, Hashable {
    package private(set) var proofs: [AppProof] = []
    /// The latest state of each transaction, without what renewal info adds.
    package private(set) var purchases: [Purchase] = []
    /// The latest state of each subscription.
    package private(set) var renewals: [Renewal] = []
    /// Whether all purchases of the customer are known.
    package var purchasesAreComplete = false
    package private(set) var promises: [StoredPromise] = []
    package private(set) var support: [SupportGrant] = []
    /// Whether the customer is unbound: the artifacts came without proof that they belong to the sender.
    package var isUnbound = false

    /// For tests: called with the number of entries that an addition processes, or that decoding large facts reads.
    @TaskLocal package static var counted: (@Sendable (Int) -> Void)?

    package init() {}

    /// Adds proofs. Of proofs that differ only in their signing date, some are left out: see `condensed`.
    package mutating func add(_ more: [AppProof]) {
        guard !more.isEmpty else { return }
        Self.counted?(proofs.count + more.count)
        // `condensed` also sorts, so that equal facts have equal bytes. The artifacts of omitted proofs stay in the
        // database.
        proofs = condensed(proofs + more)
    }

    /// Adds purchases. Two states of one transaction are joined.
    package mutating func add(_ more: [Purchase]) {
        guard !more.isEmpty else { return }
        Self.counted?(purchases.count + more.count)
        var latest: [String: Purchase] = [:]
        for purchase in more {
            latest[purchase.transactionID] = latest[purchase.transactionID].map(purchase.joined) ?? purchase
        }
        // Known purchases are sorted already, so only the new purchases need sorting.
        var merged: [Purchase] = []
        merged.reserveCapacity(purchases.count + latest.count)
        var known = purchases[...]
        for purchase in latest.values.sorted(by: { $0.transactionID < $1.transactionID }) {
            while let next = known.first, next.transactionID < purchase.transactionID {
                merged.append(next)
                known.removeFirst()
            }
            if let next = known.first, next.transactionID == purchase.transactionID {
                merged.append(purchase.joined(with: next))
                known.removeFirst()
            } else {
                merged.append(purchase)
            }
        }
        purchases = merged + known
    }

    /// Adds renewals. Of two states of one subscription, the later one stays.
    package mutating func add(_ more: [Renewal]) {
        guard !more.isEmpty else { return }
        Self.counted?(renewals.count + more.count)
        var latest: [String: Renewal] = [:]
        for renewal in renewals + more {
            if let known = latest[renewal.originalTransactionID], !renewal.supersedes(known) { continue }
            latest[renewal.originalTransactionID] = renewal
        }
        renewals = latest.values.sorted { $0.originalTransactionID < $1.originalTransactionID }
    }

    /// Adds promises. If two are equal, the first one stays.
    package mutating func add(_ more: [StoredPromise]) {
        guard !more.isEmpty else { return }
        var kept: [StoredPromise] = []
        for promise in (promises + more).sorted(by: { $0.precedes($1) })
        where !kept.contains(where: { promise.repeats($0) }) { kept.append(promise) }
        promises = kept
    }

    /// Removes promises that the publication of a policy ended.
    mutating func removePromises(of entitlements: Set<String>) {
        promises.removeAll { entitlements.contains($0.entitlement) }
    }

    /// Adds a grant or revocation by support, unless the facts have an equal one already.
    package mutating func add(_ grant: SupportGrant) {
        guard !support.contains(grant) else { return }
        support.append(grant)
        support.sort { ($0.date, $0.entitlement, $0.kind.rawValue) < ($1.date, $1.entitlement, $1.kind.rawValue) }
    }

    /// Adds what is proven about a customer who is merged into this one. `DatabaseTransaction` computes whether all
    /// purchases of both are known.
    package mutating func add(_ other: CustomerFacts) { add([other]) }

    /// Adds what is proven about several customers in one pass, which is faster than one after the other.
    package mutating func add(_ others: [CustomerFacts]) {
        add(others.flatMap(\.proofs))
        add(others.flatMap(\.purchases))
        add(others.flatMap(\.renewals))
        add(others.flatMap(\.promises))
        for grant in others.flatMap(\.support) { add(grant) }
    }

    /// Returns the evidence for a decision. A persona replaces the customer's own evidence.
    package func evidence(in environment: AppStoreEnvironment, as persona: Persona? = nil) -> Evidence {
        Evidence(
            environment: environment, app: proofs, transactions: purchases, renewals: renewals,
            purchasesAreComplete: purchasesAreComplete, support: support, persona: persona)
    }

    /// Creates facts from decoded lists, which are condensed and sorted already.
    init(
        proofs: [AppProof], purchases: [Purchase], renewals: [Renewal], purchasesAreComplete: Bool,
        promises: [StoredPromise], support: [SupportGrant], isUnbound: Bool
    ) {
        self.proofs = proofs
        self.purchases = purchases
        self.renewals = renewals
        self.purchasesAreComplete = purchasesAreComplete
        self.promises = promises
        self.support = support
        self.isUnbound = isUnbound
    }
}
