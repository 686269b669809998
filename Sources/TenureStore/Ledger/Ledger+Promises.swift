import Foundation
import TenureCore

extension Ledger {
    func insert(_ promise: RecordedPromise, of customer: Customer) throws(StoreError) {
        try session.execute(
            """
            INSERT INTO promises (
                customer, entitlement, app_transaction_id, download_id, original_purchase_date, policy, until, recorded_at
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
            """,
            [
                .integer(customer.member), .text(promise.entitlement), SQLValue(promise.acquisition.appTransactionID),
                SQLValue(promise.acquisition.downloadID),
                SQLValue(promise.acquisition.originalPurchaseDate?.timeIntervalSinceReferenceDate),
                .integer(promise.policyVersion), SQLValue(promise.until?.millisecondsSince1970),
                .integer(promise.recordedAt.millisecondsSince1970),
            ])
    }

    func promises(of customer: Int64) throws(StoreError) -> [RecordedPromise] {
        try session.rows(
            """
            SELECT entitlement, app_transaction_id, download_id, original_purchase_date, policy, until, recorded_at
            FROM promises WHERE customer = $1 ORDER BY id
            """, [.integer(customer)]
        ).map { row throws(StoreError) in
            RecordedPromise(
                entitlement: try row.text(0),
                acquisition: AcquisitionKey(
                    appTransactionID: try row.textIfPresent(1), downloadID: try row.textIfPresent(2),
                    originalPurchaseDate: try row.numberIfPresent(3).map { Date(timeIntervalSinceReferenceDate: $0) }),
                policyVersion: try row.integer(4), until: try row.instantIfPresent(5), recordedAt: try row.instant(6))
        }
    }
}
