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

/// The latest-signed state of each transaction, with the renewal info of its subscription where it is the latest one.
private func purchases(from transactions: [Purchase], renewals: [Renewal]) -> [Purchase] {
    var latest: [String: Purchase] = [:]
    for purchase in transactions {
        if let known = latest[purchase.transactionID], !purchase.isLaterWord(than: known) { continue }
        latest[purchase.transactionID] = purchase
    }
    var result = latest.values.sorted {
        ($0.purchaseDate ?? .distantPast, $0.transactionID) < ($1.purchaseDate ?? .distantPast, $1.transactionID)
    }
    guard !renewals.isEmpty else { return result }

    var renewalOf: [String: Renewal] = [:]
    for renewal in renewals {
        if let known = renewalOf[renewal.originalTransactionID], !renewal.isLaterWord(than: known) { continue }
        renewalOf[renewal.originalTransactionID] = renewal
    }
    // The grace period continues the current period of a subscription, not one before it.
    var indexOfLatest: [String: Int] = [:]
    for (index, purchase) in result.enumerated() where purchase.expiresDate != nil {
        if let known = indexOfLatest[purchase.originalTransactionID],
            result[known].expiresDate ?? .distantPast > purchase.expiresDate ?? .distantPast
        {
            continue
        }
        indexOfLatest[purchase.originalTransactionID] = index
    }
    for (subscription, index) in indexOfLatest {
        guard let renewal = renewalOf[subscription],
            renewal.productID == nil || renewal.productID == result[index].productID
        else { continue }
        result[index].gracePeriodExpiresDate = renewal.gracePeriodExpiresDate
        result[index].isInBillingRetryPeriod = renewal.isInBillingRetryPeriod
    }
    return result
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

extension Purchase {
    /// On equal times the word that grants less counts; then an order of content, so that the order of arrival never does.
    package func isLaterWord(than other: Purchase) -> Bool {
        let mine = (signedDate ?? .distantPast, revocationDate == nil ? 0 : 1, isUpgraded ? 1 : 0)
        let others = (other.signedDate ?? .distantPast, other.revocationDate == nil ? 0 : 1, other.isUpgraded ? 1 : 0)
        if mine != others { return mine > others }
        let ends = (expiresDate ?? .distantFuture, other.expiresDate ?? .distantFuture)
        return ends.0 != ends.1 ? ends.0 < ends.1 : productID < other.productID
    }
}

extension Renewal {
    package func isLaterWord(than other: Renewal) -> Bool {
        let mine = (signedDate ?? .distantPast, gracePeriodExpiresDate ?? .distantPast)
        return mine > (other.signedDate ?? .distantPast, other.gracePeriodExpiresDate ?? .distantPast)
    }
}

extension SupportAct {
    fileprivate func isLaterWord(than other: SupportAct) -> Bool {
        if date != other.date { return date > other.date }
        if kind != other.kind { return kind == .revocation }
        return (until ?? .distantFuture) > (other.until ?? .distantFuture)
    }
}
