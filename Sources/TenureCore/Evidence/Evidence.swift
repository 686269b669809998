import Foundation

/// What verified artifacts prove of one customer in one environment. Only verification makes it.
///
/// Made once and judged often: artifacts are grouped into acquisitions and purchases when the evidence is made, so
/// that the order in which they came never matters.
public struct Evidence: Sendable, Hashable {
    public let environment: AppStoreEnvironment
    public let acquisitions: [Acquisition]
    /// One per `transactionID`, as its latest-signed artifact says.
    public let purchases: [Purchase]
    /// Whether StoreKit's enumeration or the full history of the App Store Server API was seen.
    public let purchasesAreComplete: Bool
    /// The latest act of support on each entitlement.
    public let support: [SupportAct]
    /// Offered to stand in for the customer; refused beside production evidence.
    public let persona: Persona?
    /// Whether any artifact was verified at all: a persona stands beside verified evidence only.
    package let isEmpty: Bool

    package init(
        environment: AppStoreEnvironment,
        app proofs: [AppProof] = [],
        transactions: [Purchase] = [],
        renewals: [Renewal] = [],
        purchasesAreComplete: Bool = false,
        support: [SupportAct] = [],
        persona: Persona? = nil
    ) {
        self.environment = environment
        acquisitions = TenureCore.acquisitions(in: proofs)
        purchases = TenureCore.purchases(from: transactions, renewals: renewals)
        self.purchasesAreComplete = purchasesAreComplete
        self.support = latestActs(of: support)
        self.persona = persona
        isEmpty = proofs.isEmpty && transactions.isEmpty
    }

    /// The acquisition that a persona stands for.
    package var personaAcquisition: Acquisition? {
        persona.map { Acquisition(of: [$0.proof]) }
    }
}

private func latestActs(of acts: [SupportAct]) -> [SupportAct] {
    guard !acts.isEmpty else { return [] }
    var latest: [String: SupportAct] = [:]
    for act in acts {
        if let known = latest[act.entitlement], !act.isLaterWord(than: known) { continue }
        latest[act.entitlement] = act
    }
    return latest.values.sorted { $0.entitlement < $1.entitlement }
}

extension SupportAct {
    fileprivate func isLaterWord(than other: SupportAct) -> Bool {
        if date != other.date { return date > other.date }
        if kind != other.kind { return kind == .revocation }
        return (until ?? .distantFuture) > (other.until ?? .distantFuture)
    }
}
