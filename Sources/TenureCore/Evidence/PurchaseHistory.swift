import Foundation

/// The latest-signed state of each transaction, oldest purchase first, with the renewal info of its subscription where it
/// is the current period.
func purchases(from transactions: [Purchase], renewals: [Renewal]) -> [Purchase] {
    var latest: [String: Purchase] = [:]
    for purchase in transactions {
        latest[purchase.transactionID] = latest[purchase.transactionID].map(purchase.joined) ?? purchase
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
    for renewal in renewalOf.values {
        // It speaks of the current period of its product: not of one before it, and not of what an upgrade replaced.
        let current = result.lastIndex {
            $0.originalTransactionID == renewal.originalTransactionID && $0.expiresDate != nil && !$0.isUpgraded
                && (renewal.productID == nil || renewal.productID == $0.productID)
        }
        guard let current else { continue }
        result[current].gracePeriodExpiresDate = renewal.gracePeriodExpiresDate
        result[current].isInBillingRetryPeriod = renewal.isInBillingRetryPeriod
    }
    return result
}

extension Purchase {
    /// On equal times the word that grants less counts; then an order of content, so that the order of arrival never does.
    private func isLaterWord(than other: Purchase) -> Bool {
        let mine = (signedDate ?? .distantPast, revocationDate == nil ? 0 : 1, isUpgraded ? 1 : 0)
        let others = (other.signedDate ?? .distantPast, other.revocationDate == nil ? 0 : 1, other.isUpgraded ? 1 : 0)
        if mine != others { return mine > others }
        let ends = (expiresDate ?? .distantFuture, other.expiresDate ?? .distantFuture)
        return ends.0 != ends.1 ? ends.0 < ends.1 : canonicalText < other.canonicalText
    }

    /// Two artifacts of one transaction as one: the later word, but an upgrade stays one, since a receipt cannot tell of it.
    package func joined(with other: Purchase) -> Purchase {
        var result = isLaterWord(than: other) ? self : other
        result.isUpgraded = isUpgraded || other.isUpgraded
        return result
    }

    private var canonicalText: String {
        let dates = [purchaseDate, revocationDate].map { $0.map { "\($0.timeIntervalSince1970)" } ?? "" }
        let texts = [originalTransactionID, productID, type.map { "\($0)" } ?? "", isFamilyShared ? "f" : ""]
        return (texts + dates).joined(separator: "\u{0}")
    }
}

extension Renewal {
    /// On equal times the word that grants less counts, and so on.
    package func isLaterWord(than other: Renewal) -> Bool {
        let signings = (signedDate ?? .distantPast, other.signedDate ?? .distantPast)
        if signings.0 != signings.1 { return signings.0 > signings.1 }
        let graces = (gracePeriodExpiresDate ?? .distantPast, other.gracePeriodExpiresDate ?? .distantPast)
        if graces.0 != graces.1 { return graces.0 < graces.1 }
        if isInBillingRetryPeriod != other.isInBillingRetryPeriod { return isInBillingRetryPeriod }
        return (productID ?? "") < (other.productID ?? "")
    }
}
