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
    /// Whether all purchases are known: StoreKit's list, or the history of the App Store Server API, was read to its end.
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

    /// The acquisition of the app that the persona describes. Nil without a persona.
    var personaAcquisition: Acquisition? { persona.map { Acquisition(of: [$0.proof]) } }
}

/// Returns the latest grant or revocation for each entitlement (rule G3).
private func latest(of grants: [SupportGrant]) -> [SupportGrant] {
    guard !grants.isEmpty else { return [] }
    var latest: [String: SupportGrant] = [:]
    for grant in grants {
        if let other = latest[grant.entitlement], !grant.supersedes(other) { continue }
        latest[grant.entitlement] = grant
    }
    return latest.values.sorted { $0.entitlement < $1.entitlement }
}

extension SupportGrant {
    /// Whether this decision of support replaces the other decision. The later decision replaces the earlier one. Of
    /// two decisions at the same time, a revocation replaces a grant, and a longer grant replaces a shorter grant.
    fileprivate func supersedes(_ other: SupportGrant) -> Bool {
        if date != other.date { return date > other.date }
        if kind != other.kind { return kind == .revocation }
        return (until ?? .distantFuture) > (other.until ?? .distantFuture)
    }
}
