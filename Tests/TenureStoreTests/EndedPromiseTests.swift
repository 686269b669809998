import Foundation
import TenureCore
import Testing

@testable import TenureStore

@Suite struct `promises that publications ended` {
    private func promise(
        _ entitlement: String, account: String? = "7", download: String? = nil, seconds: Double? = 5, policy: Int64 = 1
    ) -> StoredPromise {
        StoredPromise(
            entitlement: entitlement,
            acquisition: AcquisitionKey(
                appTransactionID: account, downloadID: download,
                originalPurchaseDate: seconds.map { Date(timeIntervalSinceReferenceDate: $0) }),
            policyVersion: policy, until: nil, recordedAt: Date(timeIntervalSince1970: 0))
    }

    @Test func `a promise is ended if publications ended it for every customer who had it`() async throws {
        let ended = [promise("all"), promise("download", account: nil, download: "9", seconds: nil)]
        let others = [
            promise("some"), promise("none"), promise("unknown"), promise("all", policy: 2),
            promise("all", account: "8"), promise("all", account: nil), promise("all", download: "9"),
            promise("all", seconds: 6), promise("all", seconds: nil), promise("download", account: nil, seconds: nil),
        ]
        try await withFolder { folder in
            let store = try Store(SQLiteDatabase(path: folder + "/tenure.sqlite"))
            let found = try await store.write { transaction in
                // The rows refer to customers and publications that this test doesn't need.
                try transaction.session.execute("PRAGMA defer_foreign_keys = ON")
                try transaction.session.execute(
                    """
                    INSERT INTO promises (
                        customer, entitlement, app_transaction_id, download_id, original_purchase_date, policy,
                        recorded_at, ended_by
                    ) VALUES (1, 'all', '7', NULL, 5, 1, 0, 3), (2, 'all', '7', NULL, 5, 1, 0, 4),
                        (1, 'some', '7', NULL, 5, 1, 0, 3), (2, 'some', '7', NULL, 5, 1, 0, NULL),
                        (1, 'none', '7', NULL, 5, 1, 0, NULL), (1, 'download', NULL, '9', NULL, 1, 0, 3)
                    """)
                var matches: [StoredPromise] = []
                for promise in ended + others where try transaction.isEnded(promise) { matches.append(promise) }
                try transaction.session.execute("DELETE FROM promises")
                return matches
            }
            #expect(found == ended)
            try await store.close()
        }
    }
}
