import Foundation
import GRDB
import TenureCore

/// How rows of the SQLite database read.
extension Customer {
    init(_ row: Row) throws {
        let code: UInt8 = row["realm"]
        guard let realm = Realm(code: code) else { throw StoreError.damaged("no realm has the number \(code)") }
        self.init(
            id: row["id"], realm: realm, publicID: row["public_id"],
            createdAt: Date(millisecondsSince1970: row["created_at"]),
            facts: try CustomerFacts(decoding: [UInt8](row["facts"] as Data)))
    }
}

extension Artifact {
    init(_ row: Row) throws {
        let code: UInt8 = row["kind"]
        guard let kind = Kind(rawValue: code) else {
            throw StoreError.damaged("no kind of artifact has the number \(code)")
        }
        self.init(
            kind, bytes: [UInt8](row["bytes"] as Data), sha256: [UInt8](row["sha256"] as Data),
            signedDate: (row["signed_at"] as Int64?).map { Date(millisecondsSince1970: $0) })
    }
}

extension RecordedPolicy {
    init(_ row: Row) {
        self.init(
            version: row["version"], sha256: [UInt8](row["sha256"] as Data), compiled: [UInt8](row["compiled"] as Data),
            recordedAt: Date(millisecondsSince1970: row["recorded_at"]))
    }
}

extension RecordedPromise {
    init(_ row: Row) {
        self.init(
            entitlement: row["entitlement"],
            acquisition: AcquisitionKey(
                appTransactionID: row["app_transaction_id"], downloadID: row["download_id"],
                originalPurchaseDate: (row["original_purchase_date"] as Double?).map {
                    Date(timeIntervalSinceReferenceDate: $0)
                }),
            policyVersion: row["policy"],
            until: (row["until"] as Int64?).map { Date(millisecondsSince1970: $0) },
            recordedAt: Date(millisecondsSince1970: row["recorded_at"]))
    }
}
