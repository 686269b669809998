import Foundation
package import TenureCore

/// What the ledger proves of one customer: all that a decision needs, in one small value.
///
/// Derived from the ledger and rebuildable from it; stored beside the customer, so that a question costs one look-up.
package struct CustomerFacts: Sendable, Hashable {
    package private(set) var proofs: [AppProof] = []
    /// The latest word on each transaction, without what renewal info adds.
    package private(set) var purchases: [Purchase] = []
    /// The latest word on each subscription.
    package private(set) var renewals: [Renewal] = []
    package var purchasesAreComplete = false
    package private(set) var promises: [StoredPromise] = []
    package private(set) var support: [SupportGrant] = []
    /// Whether these are the facts of an unbound record: of artifacts that somebody sent without proving that they are
    /// theirs.
    package var isUnbound = false

    /// Called with the number of entries that an addition looks at: all that is known, and what is added. Tests count
    /// them.
    @TaskLocal package static var counted: (@Sendable (Int) -> Void)?

    package init() {}

    package mutating func add(_ more: [AppProof]) {
        guard !more.isEmpty else { return }
        Self.counted?(proofs.count + more.count)
        // The order makes the stored bytes the same for the same facts. All artifacts stay in the ledger.
        proofs = condensed(proofs + more)
    }

    package mutating func add(_ more: [Purchase]) {
        guard !more.isEmpty else { return }
        Self.counted?(purchases.count + more.count)
        var latest: [String: Purchase] = [:]
        for purchase in more {
            latest[purchase.transactionID] = latest[purchase.transactionID].map(purchase.joined) ?? purchase
        }
        // What is known is in order: of thousands of purchases only the new ones are sorted.
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

    /// Keeps the first of those that say the same.
    package mutating func add(_ more: [StoredPromise]) {
        guard !more.isEmpty else { return }
        var kept: [StoredPromise] = []
        for promise in (promises + more).sorted(by: { $0.precedes($1) })
        where !kept.contains(where: { promise.repeats($0) }) { kept.append(promise) }
        promises = kept
    }

    /// Those that a publication ended.
    package mutating func removePromises(of entitlements: Set<String>) {
        promises.removeAll { entitlements.contains($0.entitlement) }
    }

    package mutating func add(_ grant: SupportGrant) {
        guard !support.contains(grant) else { return }
        support.append(grant)
        support.sort { ($0.date, $0.entitlement, $0.kind.rawValue) < ($1.date, $1.entitlement, $1.kind.rawValue) }
    }

    /// With all that is proven of one who turned out to be the same customer. Whether all purchases of both are known
    /// the ledger says.
    package mutating func add(_ other: CustomerFacts) { add([other]) }

    package mutating func add(_ others: [CustomerFacts]) {
        add(others.flatMap(\.proofs))
        add(others.flatMap(\.purchases))
        add(others.flatMap(\.renewals))
        add(others.flatMap(\.promises))
        for grant in others.flatMap(\.support) { add(grant) }
    }

    /// `persona`: who is to stand in for the customer.
    package func evidence(in environment: AppStoreEnvironment, as persona: Persona? = nil) -> Evidence {
        Evidence(
            environment: environment, app: proofs, transactions: purchases, renewals: renewals,
            purchasesAreComplete: purchasesAreComplete, support: support, persona: persona)
    }

    /// For the coder, which reads what was condensed before.
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
