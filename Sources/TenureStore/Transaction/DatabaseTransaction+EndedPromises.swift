import Foundation
import TenureCore

/// Promises (rights that are stored so that later policies keep them) that a publication ended, and the check that no
/// update stores them again.
extension DatabaseTransaction {
    /// Returns the promises that a rollback to the publication with this ID restores, by the customer's row ID: the
    /// promises that were ended by later publications. Empty if `publication` is nil.
    package func restorablePromises(after publication: Int64?) throws(StoreError) -> [Int64: [StoredPromise]] {
        guard let publication else { return [:] }
        try session.allowLongStatements()
        let members = try session.integers(
            "SELECT DISTINCT customer FROM promises WHERE ended_by > $1", [.integer(publication)])
        let survivors = try survivors(of: Set(members))
        var restorable: [Int64: [StoredPromise]] = [:]
        for member in members {
            guard let survivor = survivors[member] else { continue }
            restorable[survivor, default: []] += try promises(of: member, endedAfter: publication)
        }
        return restorable
    }

    /// Whether a publication ended this promise for every customer that had it. If so, it must not be stored again.
    /// False if no customer ever had the promise.
    func isEnded(_ promise: StoredPromise) throws(StoreError) -> Bool {
        // The minimum is 0 if a promise of any customer wasn't ended, and NULL if no customer has the promise.
        try session.row(
            """
            SELECT 1 WHERE 0 < (
                SELECT min(CASE WHEN ended_by IS NULL THEN 0 ELSE 1 END) FROM promises
                WHERE entitlement = $1 AND policy = $2
                AND coalesce(app_transaction_id, '') = $3 AND coalesce(download_id, '') = $4
                AND coalesce(original_purchase_date, 0) = $5
            )
            """,
            [
                .text(promise.entitlement), .integer(promise.policyVersion),
                .text(promise.acquisition.appTransactionID ?? ""), .text(promise.acquisition.downloadID ?? ""),
                .real(promise.acquisition.originalPurchaseDate?.timeIntervalSinceReferenceDate ?? 0),
            ]) != nil
    }

    /// Throws `policyChanged` if another policy has taken effect since the update was decided, or if a publication has
    /// ended a promise of an earlier version that the update stores. Accepts every update that neither stores promises
    /// nor changes what webhooks report: such an update doesn't depend on the policy.
    func checkPolicy(of update: CustomerUpdate, former: Customer?) throws(StoreError) {
        guard let version = update.policyVersion else { return }
        let sent = update.entitlementChange.sentEntitlements
        let changesWebhookReport = sent != nil && sent != former?.sentEntitlements
        guard !update.promises.isEmpty || changesWebhookReport else { return }
        guard try publishedVersion() == version else { throw .policyChanged }
        for promise in update.promises where promise.policyVersion != version {
            if try isEnded(promise) { throw .policyChanged }
        }
    }
}
