import Foundation
import TenureCore

extension Account {
    /// Returns this copy of an account with what others stored since `base`.
    func merging(_ stored: Account, base: Account) -> Account {
        if self == stored || stored == base { return self }
        if self == base { return stored }
        // This process asked the store after the other one wrote, so that its account is the present one.
        if isAnother(than: stored) { return self }
        var merged = Account()
        merged.restore(
            environment: environment ?? stored.environment, bundleID: bundleID ?? stored.bundleID,
            appTransactionID: key?.appTransactionID ?? stored.key?.appTransactionID,
            proofs: Self.essential(proofs + stored.proofs.filter { !proofs.contains($0) }), purchases: purchases,
            renewals: Self.merging(renewals, stored.renewals))
        // Evidence only grows: of two artifacts about one thing, the rules for what the store lists decide.
        merged.insert(stored.purchases)
        merged.stale = stale == base.stale ? stored.stale : stale
        merged.persona = persona
        let known = merged.essence
        merged.service = service(mergedWith: stored, base: base, knowing: known)
        merged.denials = denials(mergedWith: stored, base: base, knowing: known)
        // Answered is what either process got an answer about. A mark that came since `base` remains: it's about a
        // change.
        let answered = Set(base.purchases.map(\.transactionID)).subtracting(base.unanswered)
        merged.unanswered = unanswered.filter { stored.isUnanswered($0) || answered.contains($0) }.union(
            stored.unanswered.filter { isUnanswered($0) || answered.contains($0) })
        merged.delivered = delivered.subtracting(base.delivered.subtracting(stored.delivered)).union(
            stored.delivered.subtracting(base.delivered))
        merged.granted = granted == base.granted ? stored.granted : granted
        return merged
    }

    /// The later state of each subscription, in an order that doesn't depend on the order of merges.
    private static func merging(_ mine: [Renewal], _ stored: [Renewal]) -> [Renewal] {
        var account = Account()
        account.add(mine + stored)
        return account.renewals.sorted { $0.originalTransactionID < $1.originalTransactionID }
    }

    /// The service's later response. If it doesn't cover all evidence, the service is asked again.
    private func service(mergedWith stored: Account, base: Account, knowing merged: Essence) -> ServiceAnswer {
        // Its answers about another persona do not apply to this one.
        if persona != stored.persona { return service }
        let isMine =
            stored.service == base.service
            || (service != base.service
                && (askedAt ?? .distantPast) >= (stored.askedAt ?? .distantPast))
        var answer = isMine ? service : stored.service
        if (isMine ? essence : stored.essence) != merged { answer.askedAt = nil }
        return answer
    }

    /// Denials that cover all evidence. One without the other process's new evidence doesn't count.
    private func denials(mergedWith stored: Account, base: Account, knowing merged: Essence) -> Set<String> {
        switch (essence == merged, stored.essence == merged) {
        case (true, true):
            stored.denials.union(denials.subtracting(base.denials)).subtracting(base.denials.subtracting(denials))
        case (true, false): denials
        case (false, true): stored.denials
        case (false, false): []
        }
    }

    /// Whether this copy has no answer about a transaction, perhaps because it doesn't know it.
    private func isUnanswered(_ transaction: String) -> Bool {
        unanswered.contains(transaction) || !purchases.contains { $0.transactionID == transaction }
    }

    /// The service's last response, and when it came.
    private struct ServiceAnswer: Hashable {
        var entitlementToken: String?
        var keyStatements: [String]
        var serviceAnswers: [String: Tenure.Answer]
        var sentEverything: Bool
        var refused: Set<String>
        var askedAt: Date?
    }

    private var service: ServiceAnswer {
        get {
            ServiceAnswer(
                entitlementToken: entitlementToken, keyStatements: keyStatements, serviceAnswers: serviceAnswers,
                sentEverything: sentEverything,
                refused: refused, askedAt: askedAt)
        }
        set {
            (entitlementToken, keyStatements) = (newValue.entitlementToken, newValue.keyStatements)
            (serviceAnswers, askedAt) = (newValue.serviceAnswers, newValue.askedAt)
            (sentEverything, refused) = (newValue.sentEverything, newValue.refused)
        }
    }
}
