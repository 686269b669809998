import Foundation
import TenureCore

/// Merges two copies of an account: the copy of this process, and the copy that another process has stored.
///
/// This is a three-way merge, as in Git. For example, the app and its widget start with the same copy (`base`). The
/// widget stores a purchase (`stored`), and the app gets the service's response (`self`). The merged account has the
/// purchase, which is signed evidence, and the response. The response doesn't cover the purchase, so the service is
/// asked again.
extension Account {
    /// Returns this copy of an account, merged with the changes that other processes have stored in the meantime.
    ///
    /// - Parameters:
    ///   - stored: the copy that is stored now.
    ///   - base: the stored copy that this process read or wrote last. Differences from it are changes.
    func merging(_ stored: Account, base: Account) -> Account {
        // At most one copy has changed, or both copies are equal.
        if self == stored || stored == base { return self }
        if self == base { return stored }
        // Another account: this process read the App Store after the other process wrote, so this process has the
        // current account.
        if isAnotherAccount(than: stored) { return self }
        var merged = Account()
        merged.restore(
            environment: environment ?? stored.environment, bundleID: bundleID ?? stored.bundleID,
            appTransactionID: key?.appTransactionID ?? stored.key?.appTransactionID,
            proofs: Self.proofsToStore(proofs + stored.proofs.filter { !proofs.contains($0) }), purchases: purchases,
            renewals: Self.merging(renewals, stored.renewals))
        // Purchases are only added. If both copies have the same transaction with different facts, `insert` joins the
        // two, as it does with a transaction from the App Store.
        merged.insert(stored.purchases)
        merged.staleAppTransactionID =
            staleAppTransactionID == base.staleAppTransactionID ? stored.staleAppTransactionID : staleAppTransactionID
        merged.persona = persona
        // Keep only answers that cover all of the merged evidence.
        let mergedFacts = merged.signedFacts
        merged.service = service(mergedWith: stored, base: base, mergedFacts: mergedFacts)
        merged.denials = denials(mergedWith: stored, base: base, mergedFacts: mergedFacts)
        // A transaction is answered if either process got an answer about it. A transaction that was marked as
        // unanswered since `base` stays unanswered, because it has changed.
        let answered = Set(base.purchases.map(\.transactionID)).subtracting(base.unansweredTransactions)
        merged.unansweredTransactions = unansweredTransactions.filter {
            stored.isUnanswered($0) || answered.contains($0)
        }.union(stored.unansweredTransactions.filter { isUnanswered($0) || answered.contains($0) })
        // A transaction that either process has removed is finished.
        merged.deliveredTransactions = deliveredTransactions.subtracting(
            base.deliveredTransactions.subtracting(stored.deliveredTransactions)
        ).union(
            stored.deliveredTransactions.subtracting(base.deliveredTransactions))
        merged.grantedByDevice = grantedByDevice == base.grantedByDevice ? stored.grantedByDevice : grantedByDevice
        return merged
    }

    /// Returns the later state of each subscription. The order of the result doesn't depend on the order of merges.
    private static func merging(_ mine: [Renewal], _ stored: [Renewal]) -> [Renewal] {
        var account = Account()
        account.add(mine + stored)
        return account.renewals.sorted { $0.originalTransactionID < $1.originalTransactionID }
    }

    /// Returns the later of the two responses of the service. If it wasn't given with all of the merged evidence,
    /// `answeredAt` is nil, so that the service is asked again.
    private func service(mergedWith stored: Account, base: Account, mergedFacts: SignedFacts) -> ServiceAnswer {
        // The service's answers about another persona don't apply to this persona.
        if persona != stored.persona { return service }
        let isMine =
            stored.service == base.service
            || (service != base.service && (answeredAt ?? .distantPast) >= (stored.answeredAt ?? .distantPast))
        var answer = isMine ? service : stored.service
        if (isMine ? signedFacts : stored.signedFacts) != mergedFacts { answer.answeredAt = nil }
        return answer
    }

    /// Returns the denials that were made with all of the merged evidence. A denial is dropped if the other process had
    /// evidence that was missing when the denial was made.
    private func denials(mergedWith stored: Account, base: Account, mergedFacts: SignedFacts) -> Set<String> {
        switch (signedFacts == mergedFacts, stored.signedFacts == mergedFacts) {
        case (true, true):
            // Apply this process's changes since `base` to the stored denials.
            stored.denials.union(denials.subtracting(base.denials)).subtracting(base.denials.subtracting(denials))
        case (true, false): denials
        case (false, true): stored.denials
        case (false, false): []
        }
    }

    /// Whether this copy has no answer about a transaction. Also true for a transaction that this copy doesn't have.
    private func isUnanswered(_ transaction: String) -> Bool {
        unansweredTransactions.contains(transaction) || !purchases.contains { $0.transactionID == transaction }
    }

    /// The service's last response, and when it came.
    private typealias ServiceAnswer = (
        entitlementToken: String?, keyStatements: [String], serviceAnswers: [String: Tenure.Answer],
        sentEverything: Bool, refusedTransactions: Set<String>, answeredAt: Date?
    )

    private var service: ServiceAnswer {
        get { (entitlementToken, keyStatements, serviceAnswers, sentEverything, refusedTransactions, answeredAt) }
        set {
            (entitlementToken, keyStatements, serviceAnswers, sentEverything, refusedTransactions, answeredAt) =
                newValue
        }
    }
}
