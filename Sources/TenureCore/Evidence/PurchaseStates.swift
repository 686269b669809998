import Foundation

/// Returns the latest-signed state of each transaction, the oldest purchase first. The App Store may sign a transaction
/// again when its state changes, for example after a refund. The current period of a subscription gets its renewal
/// info.
func purchases(from transactions: [Purchase], renewals: [Renewal]) -> [Purchase] {
    var result = transactions
    if transactions.count > 1 {
        let latest = Dictionary(
            transactions.lazy.map { ($0.transactionID, $0) }, uniquingKeysWith: { $1.joined(with: $0) })
        result = latest.values.sorted {
            ($0.purchaseDate ?? .distantPast, $0.transactionID) < ($1.purchaseDate ?? .distantPast, $1.transactionID)
        }
        markUpgraded(in: &result)
        endRefundedCopies(in: &result)
    }
    guard !renewals.isEmpty else { return result }

    let renewalOf = Dictionary(
        renewals.lazy.map { ($0.originalTransactionID, $0) }, uniquingKeysWith: { $1.supersedes($0) ? $1 : $0 })
    // The transactions of each subscription, sorted by date.
    var periods: [String: [Int]] = [:]
    for (index, purchase) in result.enumerated() where renewalOf[purchase.originalTransactionID] != nil {
        periods[purchase.originalTransactionID, default: []].append(index)
    }
    for renewal in renewalOf.values {
        // Renewal info is only about the current period, not about earlier or upgraded periods.
        let periods = periods[renewal.originalTransactionID] ?? []
        let matching = periods.filter {
            result[$0].expiresDate != nil && (renewal.productID == nil || renewal.productID == result[$0].productID)
        }
        guard let current = matching.last(where: { !result[$0].isUpgraded }) else { continue }
        // A later period that was upgraded shows that the renewal succeeded, so the grace period is over.
        if let last = matching.last, last != current, let end = result[current].expiresDate,
            let beginning = result[last].purchaseDate, beginning >= end
        {
            continue
        }
        // If a period of another product has begun since, the renewal info is outdated.
        if let last = periods.last, last != current, let signedDate = renewal.signedDate,
            let beginning = result[last].purchaseDate, signedDate < beginning
        {
            continue
        }
        result[current].gracePeriodExpiresDate = renewal.gracePeriodExpiresDate
        result[current].isInBillingRetryPeriod = renewal.isInBillingRetryPeriod
    }
    return result
}

/// Marks upgraded subscriptions.
///
/// After an upgrade, often only the new product's transaction is received. The old product's transaction isn't received
/// again with `isUpgraded`. But a subscription has only one period at a time. So a period was replaced if a period of
/// another product begins during it.
///
/// - Parameter purchases: sorted by date.
private func markUpgraded(in purchases: inout [Purchase]) {
    guard purchases.count > 1 else { return }
    let subscriptions = Dictionary(
        grouping: purchases.indices.filter { purchases[$0].type == .autoRenewable && purchases[$0].purchaseDate != nil }
    ) { purchases[$0].originalTransactionID }
    for periods in subscriptions.values where periods.count > 1 {
        // The first period that begins later than the current period. Periods can begin at the same time.
        var firstLater: Int?
        // For each period, the first later period with another product.
        var nextOfAnotherProduct = [Int?](repeating: nil, count: periods.count)
        // Iterate backward, so that the time grows only linearly with the number of periods.
        for index in periods.indices.dropLast().reversed() {
            let (old, next) = (purchases[periods[index]], purchases[periods[index + 1]])
            nextOfAnotherProduct[index] = next.productID == old.productID ? nextOfAnotherProduct[index + 1] : index + 1
            if next.purchaseDate != old.purchaseDate { firstLater = index + 1 }
            guard let later = firstLater, !old.isUpgraded, let end = old.expiresDate else { continue }
            let hasAnotherProduct = purchases[periods[later]].productID != old.productID
            guard let new = hasAnotherProduct ? later : nextOfAnotherProduct[later],
                let beginning = purchases[periods[new]].purchaseDate
            else { continue }
            purchases[periods[index]].isUpgraded = beginning < end
        }
    }
}

/// Applies a refund to all copies of a purchase. An old receipt lists a restored purchase twice: as the original, and
/// with another transaction ID. Each period of a subscription is a separate purchase.
///
/// The latest state of any copy decides. So a refund that was reversed, or was followed by a new purchase, ends no
/// copy.
private func endRefundedCopies(in purchases: inout [Purchase]) {
    guard purchases.contains(where: { $0.revocationDate != nil }) else { return }
    let copies = Dictionary(grouping: purchases.indices) { CopyKey(of: purchases[$0]) }
    for indices in copies.values where indices.count > 1 {
        let latest = indices.map { purchases[$0] }.max { $1.supersedes($0) }
        guard let refund = latest?.revocationDate else { continue }
        for index in indices where purchases[index].isRefunded(with: refund) {
            purchases[index].revocationDate = refund
        }
    }
}

/// What the copies of one purchase have in common. Their transaction IDs differ.
private struct CopyKey: Hashable {
    let originalTransactionID: String
    let productID: String
    /// When the purchase ends, in whole seconds, because dates in receipts have no fractions.
    let secondOfEnd: TimeInterval?

    init(of purchase: Purchase) {
        originalTransactionID = purchase.originalTransactionID
        productID = purchase.productID
        secondOfEnd = purchase.expiresDate?.timeIntervalSince1970.rounded(.down)
    }
}
