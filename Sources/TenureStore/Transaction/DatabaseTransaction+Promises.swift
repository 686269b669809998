import Foundation
import TenureCore

/// Stores and reads promises: rights that are stored so that later policies can't take them (`StoredPromise`). A
/// promise belongs to a *member*: a row of `customers`, of which a merged customer has several.
extension DatabaseTransaction {
    /// Stores a promise for the member by which the customer was found. If the publication of a policy ended the same
    /// promise before, it counts again.
    func insert(_ promise: StoredPromise, of customer: Customer) throws(StoreError) {
        try session.execute(
            """
            INSERT INTO promises (
                customer, entitlement, app_transaction_id, download_id, original_purchase_date, policy, until, recorded_at
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (
                customer, entitlement, policy, coalesce(app_transaction_id, ''), coalesce(download_id, ''),
                coalesce(original_purchase_date, 0), coalesce(until, 0)
            ) DO UPDATE SET ended_by = NULL, recorded_at = excluded.recorded_at WHERE promises.ended_by IS NOT NULL
            """,
            [
                .integer(customer.member), .text(promise.entitlement), SQLValue(promise.acquisition.appTransactionID),
                SQLValue(promise.acquisition.downloadID),
                SQLValue(promise.acquisition.originalPurchaseDate?.timeIntervalSinceReferenceDate),
                .integer(promise.policyVersion), SQLValue(promise.until?.millisecondsSince1970),
                .integer(promise.recordedAt.millisecondsSince1970),
            ])
    }

    /// The promises of a member that no publication ended.
    func promises(of member: Int64) throws(StoreError) -> [StoredPromise] {
        try promises("customer = $1 AND ended_by IS NULL", [.integer(member)])
    }

    /// The promises of a member that were ended by publications later than the publication with this ID.
    func promises(of member: Int64, endedAfter publication: Int64) throws(StoreError) -> [StoredPromise] {
        try promises("customer = $1 AND ended_by > $2", [.integer(member), .integer(publication)])
    }

    /// Reads the promises that an SQL condition selects, in the order in which they were stored.
    func promises(
        _ condition: String, _ arguments: [SQLValue]
    ) throws(StoreError) -> [StoredPromise] {
        try session.rows(
            """
            SELECT entitlement, app_transaction_id, download_id, original_purchase_date, policy, until, recorded_at
            FROM promises WHERE \(condition) ORDER BY id
            """, arguments
        ).map { row throws(StoreError) in
            StoredPromise(
                entitlement: try row.text(0),
                acquisition: AcquisitionKey(
                    appTransactionID: try row.textIfPresent(1), downloadID: try row.textIfPresent(2),
                    originalPurchaseDate: try row.numberIfPresent(3).map { Date(timeIntervalSinceReferenceDate: $0) }),
                policyVersion: try row.integer(4), until: try row.instantIfPresent(5), recordedAt: try row.instant(6))
        }
    }
}
