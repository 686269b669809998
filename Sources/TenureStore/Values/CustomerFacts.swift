package import TenureCore

/// Everything that a decision about entitlements needs: what a customer's artifacts prove, promises (`StoredPromise`),
/// and grants and revocations by support.
///
/// Facts are stored with the customer, so that a decision needs one look-up. They can be computed again from the
/// customer's other rows. The lists are sorted and contain nothing twice, as `add` leaves them.
package struct CustomerFacts: Sendable, Hashable {
    /// What app transactions and receipts prove about how the customer got the app.
    package internal(set) var proofs: [AppProof] = []
    /// The latest state of each transaction, without what renewal info adds.
    package internal(set) var purchases: [Purchase] = []
    /// The latest renewal info of each subscription.
    package internal(set) var renewals: [Renewal] = []
    /// Whether the service knows all purchases of the customer. If not, a missing purchase may still exist.
    package var purchasesAreComplete = false
    /// The promises that no publication ended.
    package internal(set) var promises: [StoredPromise] = []
    /// Grants and revocations by support, in the order of their dates.
    package internal(set) var support: [SupportGrant] = []
    /// Whether the customer is unbound: the artifacts came without proof that they belong to the sender.
    package var isUnbound = false

    /// For tests: called with the number of entries that an addition, or the decoding of large facts, processes.
    @TaskLocal package static var entryCounter: (@Sendable (Int) -> Void)?

    package init() {}

    /// Adds proofs. Of several proofs that differ only in their signing dates, the unnecessary ones are left out.
    package mutating func add(_ more: [AppProof]) {
        guard !more.isEmpty else { return }
        Self.entryCounter?(proofs.count + more.count)
        // `condensed` also sorts, so that equal facts have equal bytes. The artifacts of proofs that it leaves out stay
        // in the database.
        proofs = condensed(proofs + more)
    }

    /// Adds purchases. Two states of one transaction are joined.
    package mutating func add(_ more: [Purchase]) {
        guard !more.isEmpty else { return }
        Self.entryCounter?(purchases.count + more.count)
        var latest: [String: Purchase] = [:]
        for purchase in more {
            let id = purchase.transactionID
            latest[id] = latest[id].map { purchase.joined(with: $0) } ?? purchase
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
        Self.entryCounter?(renewals.count + more.count)
        var latest: [String: Renewal] = [:]
        for renewal in renewals + more {
            if let known = latest[renewal.originalTransactionID], !renewal.supersedes(known) { continue }
            latest[renewal.originalTransactionID] = renewal
        }
        renewals = latest.values.sorted { $0.originalTransactionID < $1.originalTransactionID }
    }

    /// Adds promises. Of two promises with the same content, only the promise that was made first stays.
    package mutating func add(_ more: [StoredPromise]) {
        guard !more.isEmpty else { return }
        var kept: [StoredPromise] = []
        for promise in (promises + more).sorted(by: { $0.precedes($1) }) {
            if !kept.contains(where: { promise.repeats($0) }) { kept.append(promise) }
        }
        promises = kept
    }

    /// Removes the promises of these entitlements, which the publication of a policy ended.
    mutating func removePromises(of entitlements: Set<String>) {
        promises.removeAll { entitlements.contains($0.entitlement) }
    }

    /// Adds a grant or revocation by support, unless the facts have an equal one already.
    package mutating func add(_ grant: SupportGrant) {
        guard !support.contains(grant) else { return }
        support.append(grant)
        support.sort { ($0.date, $0.entitlement, $0.kind.rawValue) < ($1.date, $1.entitlement, $1.kind.rawValue) }
    }

    /// Adds the facts of a customer who is merged into this one. Doesn't change `purchasesAreComplete`, which
    /// `DatabaseTransaction` computes.
    package mutating func add(_ other: CustomerFacts) { add([other]) }

    /// Adds the facts of several customers in one pass, which is faster than adding one customer after the other.
    package mutating func add(_ others: [CustomerFacts]) {
        add(others.flatMap(\.proofs))
        add(others.flatMap(\.purchases))
        add(others.flatMap(\.renewals))
        add(others.flatMap(\.promises))
        for grant in others.flatMap(\.support) { add(grant) }
    }

    /// Returns the evidence for a decision about entitlements. If there is a persona (a test customer), it replaces the
    /// customer's own evidence.
    package func evidence(in environment: AppStoreEnvironment, as persona: Persona? = nil) -> Evidence {
        Evidence(
            environment: environment, app: proofs, transactions: purchases, renewals: renewals,
            purchasesAreComplete: purchasesAreComplete, support: support, persona: persona)
    }
}
