import Foundation

/// The latest-signed state of each transaction, oldest purchase first, with the renewal info of its subscription where it
/// is the current period.
func purchases(from transactions: [Purchase], renewals: [Renewal]) -> [Purchase] {
    var result = transactions
    if transactions.count > 1 {
        var latest: [String: Purchase] = [:]
        for purchase in transactions {
            latest[purchase.transactionID] = latest[purchase.transactionID].map(purchase.joined) ?? purchase
        }
        result = latest.values.sorted {
            ($0.purchaseDate ?? .distantPast, $0.transactionID) < ($1.purchaseDate ?? .distantPast, $1.transactionID)
        }
        markReplaced(in: &result)
        endRefundedCopies(in: &result)
    }
    guard !renewals.isEmpty else { return result }

    var renewalOf: [String: Renewal] = [:]
    for renewal in renewals {
        if let known = renewalOf[renewal.originalTransactionID], !renewal.isLaterWord(than: known) { continue }
        renewalOf[renewal.originalTransactionID] = renewal
    }
    // In the order of their dates.
    var periods: [String: [Int]] = [:]
    for (index, purchase) in result.enumerated() where renewalOf[purchase.originalTransactionID] != nil {
        periods[purchase.originalTransactionID, default: []].append(index)
    }
    for renewal in renewalOf.values {
        // It speaks of the current period of its product: not of one before it, and not of what an upgrade replaced.
        let current = periods[renewal.originalTransactionID]?.last {
            result[$0].expiresDate != nil && !result[$0].isUpgraded
                && (renewal.productID == nil || renewal.productID == result[$0].productID)
        }
        guard let current else { continue }
        result[current].gracePeriodExpiresDate = renewal.gracePeriodExpiresDate
        result[current].isInBillingRetryPeriod = renewal.isInBillingRetryPeriod
    }
    return result
}

/// An upgrade is told by the new product's transaction, and the old one's may never come again to say `isUpgraded`: a
/// subscription runs one period at a time, so that one in which another product's begins was replaced by it.
///
/// `purchases` in the order of their dates.
private func markReplaced(in purchases: inout [Purchase]) {
    guard purchases.count > 1 else { return }
    let subscriptions = Dictionary(
        grouping: purchases.indices.filter { purchases[$0].type == .autoRenewable && purchases[$0].purchaseDate != nil }
    ) { purchases[$0].originalTransactionID }
    for periods in subscriptions.values where periods.count > 1 {
        // From the last one backwards, so that thousands of periods take no longer than they are many.
        var later: Int?
        var ofAnother = [Int?](repeating: nil, count: periods.count)
        for place in periods.indices.dropLast().reversed() {
            let (old, next) = (purchases[periods[place]], purchases[periods[place + 1]])
            ofAnother[place] = next.productID == old.productID ? ofAnother[place + 1] : place + 1
            if next.purchaseDate != old.purchaseDate { later = place + 1 }
            guard let first = later, !old.isUpgraded, let end = old.expiresDate else { continue }
            let isAnother = purchases[periods[first]].productID != old.productID
            guard let new = isAnother ? first : ofAnother[first], let beginning = purchases[periods[new]].purchaseDate
            else { continue }
            purchases[periods[place]].isUpgraded = beginning < end
        }
    }
}

/// An old receipt lists a restored purchase under a number of its own, beside the one under which it was bought: what is
/// refunded is refunded in all its copies. Of a subscription each period is a purchase of its own.
///
/// The latest word on any of them counts, so that a refund that was taken back, or a new purchase, ends nothing.
private func endRefundedCopies(in purchases: inout [Purchase]) {
    guard purchases.contains(where: { $0.revocationDate != nil }) else { return }
    let copies = Dictionary(grouping: purchases.indices) { PurchasedThing(of: purchases[$0]) }
    for indices in copies.values where indices.count > 1 {
        let latest = indices.map { purchases[$0] }.reduce(nil) { latest, purchase in
            latest.map { purchase.isLaterWord(than: $0) ? purchase : $0 } ?? purchase
        }
        guard let refund = latest?.revocationDate else { continue }
        for index in indices where purchases[index].isRefunded(with: refund) {
            purchases[index].revocationDate = refund
        }
    }
}

/// What was bought, whatever number a copy of it has.
private struct PurchasedThing: Hashable {
    let originalTransactionID: String
    let productID: String
    /// Receipts know whole seconds alone.
    let secondOfEnd: TimeInterval?

    init(of purchase: Purchase) {
        originalTransactionID = purchase.originalTransactionID
        productID = purchase.productID
        secondOfEnd = purchase.expiresDate?.timeIntervalSince1970.rounded(.down)
    }
}

extension Purchase {
    /// Whether it may be a copy of what was refunded then: nothing is bought, or restored, after its refund. Of a
    /// subscription without an end nobody can tell which period it is.
    fileprivate func isRefunded(with refund: Date) -> Bool {
        revocationDate == nil && (purchaseDate ?? .distantPast) <= refund
            && (type != .autoRenewable || expiresDate != nil)
    }

    /// On equal times the word that grants less counts; then an order of content, so that the order of arrival never does.
    ///
    /// Not `isUpgraded`, which both words share once they are joined: with it, it would matter who was joined first.
    fileprivate func isLaterWord(than other: Purchase) -> Bool {
        let mine = (signedDate ?? .distantPast, revocationDate == nil ? 0 : 1)
        let others = (other.signedDate ?? .distantPast, other.revocationDate == nil ? 0 : 1)
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
        let dates = [purchaseDate, expiresDate, revocationDate, signedDate].map {
            $0.map { "\($0.timeIntervalSince1970)" } ?? ""
        }
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
