import Foundation

/// The facts about one customer in one environment of the App Store. Verified artifacts (signed app transactions,
/// transactions, renewal info and receipts) prove these facts. Only code that has verified artifacts creates evidence.
///
/// The initializer groups artifacts into acquisitions and purchases. So the order in which artifacts were received
/// doesn't matter, and later decisions on the same evidence are fast.
public struct Evidence: Sendable, Hashable {
    /// The environment in which the App Store signed all artifacts.
    public let environment: AppStoreEnvironment
    /// The acquisitions of the app: one for each account with which the customer acquired it.
    public let acquisitions: [Acquisition]
    /// The purchases, one per `transactionID`, with the facts of its latest-signed artifact.
    public let purchases: [Purchase]
    /// Whether all purchases are known: StoreKit's list, or the history of the App Store Server API, was read to its
    /// end.
    public let purchasesAreComplete: Bool
    /// The latest grant or revocation by support for each entitlement.
    public let support: [SupportGrant]
    /// The test customer that replaces the real customer in decisions. Ignored if the evidence is of production (rule
    /// I4 of Docs/decision-rules.md).
    public let persona: Persona?
    /// Whether there is neither an app proof nor a transaction. If so, the persona isn't used, because a persona needs
    /// verified evidence (rule I4).
    package let isEmpty: Bool

    package init(
        environment: AppStoreEnvironment, app proofs: [AppProof] = [], transactions: [Purchase] = [],
        renewals: [Renewal] = [], purchasesAreComplete: Bool = false, support: [SupportGrant] = [],
        persona: Persona? = nil
    ) {
        self.environment = environment
        acquisitions = TenureCore.acquisitions(in: proofs)
        purchases = TenureCore.purchases(from: transactions, renewals: renewals)
        self.purchasesAreComplete = purchasesAreComplete
        self.support = latest(of: support)
        self.persona = persona
        isEmpty = proofs.isEmpty && transactions.isEmpty
    }

    /// Whether the version and the date of at least one acquisition of the app prove different eras (periods with one
    /// business model). False if the date is in a changeover window, in which price and version can disagree. A
    /// rehearsal (a dry run of a policy over real customers) counts the customers for whom this is true.
    ///
    /// The reasons of a decision omit the contradiction if a purchase, support or a promise alone decides the outcome,
    /// or if the entitlement has no `honors`. This function finds the contradiction in these cases, too.
    package func hasContradictingProofs(under policy: Policy) -> Bool {
        guard environment.isProduction else { return false }
        // The proofs don't depend on the current time, so any date can be passed.
        return acquisitions.contains { EraSource($0, under: policy, at: .distantPast).possible.contradiction != nil }
    }
}

/// Returns the latest grant or revocation for each entitlement (rule G3).
private func latest(of grants: [SupportGrant]) -> [SupportGrant] {
    guard !grants.isEmpty else { return [] }
    let latest = Dictionary(grants.lazy.map { ($0.entitlement, $0) }, uniquingKeysWith: { $1.supersedes($0) ? $1 : $0 })
    return latest.values.sorted { $0.entitlement < $1.entitlement }
}
