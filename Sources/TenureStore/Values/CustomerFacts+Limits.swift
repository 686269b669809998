import Foundation
package import TenureCore

/// Limits the facts in a response about an unbound customer: artifacts that came without proof that they belong to the
/// sender. The sender may not be the customer whom the artifacts name. So the response is based on the sent artifacts,
/// and on the promises for the acquisitions that the artifacts prove (an *acquisition* is one Apple Account getting the
/// app). Refunds, expirations and revocations that are known about the named customers apply.
extension CustomerFacts {
    /// Returns these facts of an unbound customer, limited by the facts of the customers that its artifacts name.
    ///
    /// Refunds, expirations and revocations by support apply. From the named customers, only the promises for the same
    /// acquisitions are added: no grants, other purchases or other artifacts.
    package func limited(by customers: [CustomerFacts], in environment: AppStoreEnvironment) -> CustomerFacts {
        let acquisitions = Evidence(environment: environment, app: proofs).acquisitions
        var proofs: [AppProof] = []
        var purchases = purchases
        var renewals = renewals
        var promises: [StoredPromise] = []
        var support: [SupportGrant] = []
        for facts in customers {
            let evidence = facts.evidence(in: environment)
            for acquisition in acquisitions {
                let known = facts.knownProofs(of: acquisition.key, in: evidence)
                proofs += known.compactMap { $0.refund(of: acquisition.key) }
                proofs += expiration(in: known, of: acquisition.key)
                promises += facts.promises.filter { acquisition.key.matches($0.acquisition) }
            }
            purchases = limited(purchases, by: evidence.purchases)
            renewals = limited(renewals, by: facts.renewals)
            renewals = limited(renewals, to: self.purchases, by: evidence.purchases)
            support += evidence.support.filter { $0.kind == .revocation }
        }
        var limited = self
        limited.purchases = purchases
        limited.renewals = renewals
        limited.add(proofs)
        limited.add(promises)
        for grant in support { limited.add(grant) }
        return limited
    }

    /// Returns the proofs of the acquisition with this key: proofs with its IDs or date, and proofs of an acquisition
    /// in `evidence` that matches the key.
    private func knownProofs(of key: AcquisitionKey, in evidence: Evidence) -> [AppProof] {
        let related = evidence.acquisitions.map(\.key).filter { $0.matches(key) }
        return proofs.filter { proof in
            let own = AcquisitionKey(of: proof)
            return own.matches(key) || related.contains { $0.matches(own) }
        }
    }

    /// Returns a proof with the end of a volume-purchase license, if the latest stored receipt has such a date. If the
    /// sender sent receipts, the stored receipt must be signed later than these, and have an earlier end. Otherwise
    /// empty.
    private func expiration(in known: [AppProof], of key: AcquisitionKey) -> [AppProof] {
        guard let latest = known.filter(\.kind.canCarryExpiration).max(by: AppProof.isSignedEarlier),
            let expiration = latest.expirationDate
        else { return [] }
        let sent = proofs.filter { $0.kind.canCarryExpiration && AcquisitionKey(of: $0).matches(key) }
            .max(by: AppProof.isSignedEarlier)
        if let sent {
            guard AppProof.isSignedEarlier(sent, latest), expiration < sent.expirationDate ?? .distantFuture
            else { return [] }
        }
        return [
            AppProof(
                kind: latest.kind, signedDate: latest.signedDate, id: key.id, originalPurchaseDate: key.dateWithoutID,
                expirationDate: expiration)
        ]
    }

    /// Limits each purchase by the known state of the same transaction.
    private func limited(_ purchases: [Purchase], by known: [Purchase]) -> [Purchase] {
        guard !purchases.isEmpty, !known.isEmpty else { return purchases }
        let known = Dictionary(known.map { ($0.transactionID, $0) }) { first, _ in first }
        return purchases.map { purchase in known[purchase.transactionID].map { purchase.limited(by: $0) } ?? purchase }
    }

    /// Limits each renewal by the known state of the same subscription.
    private func limited(_ renewals: [Renewal], by known: [Renewal]) -> [Renewal] {
        guard !renewals.isEmpty, !known.isEmpty else { return renewals }
        let known = Dictionary(known.map { ($0.originalTransactionID, $0) }) { first, _ in first }
        return renewals.map { renewal in
            known[renewal.originalTransactionID].map { renewal.limited(by: $0) } ?? renewal
        }
    }

    /// Limits the grace periods of subscriptions for which the sender omitted the latest known period, and sent renewal
    /// info that is older than this period. Otherwise, a sender who omits a refunded period would keep the earlier
    /// grace period. If the latest period is paid, the grace period lasts no longer than that period. If it isn't paid,
    /// there is no grace period.
    private func limited(_ renewals: [Renewal], to purchases: [Purchase], by known: [Purchase]) -> [Renewal] {
        guard !renewals.isEmpty else { return renewals }
        let (sent, latest) = (purchases.latestPeriods, known.latestPeriods)
        return renewals.map { renewal in
            guard let period = latest[renewal.originalTransactionID], let grace = renewal.gracePeriodExpiresDate,
                (sent[renewal.originalTransactionID]?.purchaseDate ?? .distantPast)
                    < (period.purchaseDate ?? .distantPast),
                (renewal.signedDate ?? .distantPast) < (period.signedDate ?? .distantFuture)
            else { return renewal }
            let isPaid =
                period.revocationDate == nil && !period.isUpgraded
                && (renewal.productID == nil || renewal.productID == period.productID)
            return Renewal(
                originalTransactionID: renewal.originalTransactionID, productID: renewal.productID,
                gracePeriodExpiresDate: isPaid ? min(grace, period.expiresDate ?? grace) : nil,
                isInBillingRetryPeriod: renewal.isInBillingRetryPeriod, signedDate: renewal.signedDate)
        }
    }
}

extension AcquisitionKey {
    /// The ID of the app transaction, or else of the download; nil if the key has only a date.
    fileprivate var id: AcquisitionID? {
        appTransactionID.map { .appTransaction($0) } ?? downloadID.map { .download($0) }
    }

    /// The date by which an artifact without an ID is assigned to an acquisition; nil if there is an ID.
    fileprivate var dateWithoutID: Date? { id == nil ? originalPurchaseDate : nil }
}

extension AppProof {
    /// A proof with only the refund date of this artifact; nil if the app wasn't refunded.
    fileprivate func refund(of key: AcquisitionKey) -> AppProof? {
        revocationDate.map {
            AppProof(
                kind: kind, signedDate: signedDate, id: key.id, originalPurchaseDate: key.dateWithoutID,
                revocationDate: $0)
        }
    }

    /// Compares signing dates. A proof without a signing date counts as the earliest.
    fileprivate static func isSignedEarlier(_ left: AppProof, _ right: AppProof) -> Bool {
        (left.signedDate ?? .distantPast) < (right.signedDate ?? .distantPast)
    }
}

extension [Purchase] {
    /// The period of each subscription that began last, by original transaction ID.
    fileprivate var latestPeriods: [String: Purchase] {
        var latest: [String: Purchase] = [:]
        for purchase in self where purchase.expiresDate != nil {
            let other = latest[purchase.originalTransactionID]?.purchaseDate ?? .distantPast
            if other <= purchase.purchaseDate ?? .distantPast { latest[purchase.originalTransactionID] = purchase }
        }
        return latest
    }
}

extension Purchase {
    /// The purchase with the refund, upgrade or earlier end that `known` proves: another state of the same transaction.
    fileprivate func limited(by known: Purchase) -> Purchase {
        let latest = joined(with: known)
        let ends = [expiresDate, latest.expiresDate].compactMap(\.self)
        return Purchase(
            transactionID: transactionID, originalTransactionID: originalTransactionID, productID: productID,
            type: type, purchaseDate: purchaseDate, expiresDate: ends.min(),
            revocationDate: revocationDate ?? latest.revocationDate, isUpgraded: latest.isUpgraded,
            isFamilyShared: isFamilyShared, signedDate: signedDate)
    }
}

extension Renewal {
    /// The renewal with the shorter grace period that later renewal info proves, or without a grace period if that info
    /// has none.
    fileprivate func limited(by known: Renewal) -> Renewal {
        guard known.supersedes(self), let grace = gracePeriodExpiresDate else { return self }
        return Renewal(
            originalTransactionID: originalTransactionID, productID: productID,
            gracePeriodExpiresDate: known.gracePeriodExpiresDate.map { min($0, grace) },
            isInBillingRetryPeriod: isInBillingRetryPeriod, signedDate: signedDate)
    }
}
