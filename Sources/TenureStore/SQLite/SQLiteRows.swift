import Foundation
import GRDB
import TenureCore

/// How rows of the SQLite database read.
///
/// GRDB's subscripts end the process where a column holds something else than asked for; a damaged file is an error.
extension Customer {
    init(_ row: Row) throws(StoreError) {
        let code = try row.integer("realm")
        guard let realm = UInt8(exactly: code).flatMap({ Realm(code: $0) }) else {
            throw .damaged("no realm has the number \(code)")
        }
        self.init(
            id: try row.integer("id"), realm: realm, publicID: try row.text("public_id"),
            createdAt: try row.instant("created_at"), facts: try CustomerFacts(decoding: try row.bytes("facts")))
    }
}

extension Artifact {
    init(_ row: Row) throws(StoreError) {
        let code = try row.integer("kind")
        guard let kind = UInt8(exactly: code).flatMap({ Kind(rawValue: $0) }) else {
            throw .damaged("no kind of artifact has the number \(code)")
        }
        self.init(
            kind, bytes: try row.bytes("bytes"), sha256: try row.bytes("sha256"),
            signedDate: try row.instantIfPresent("signed_at"))
    }
}

extension RecordedPolicy {
    init(_ row: Row) throws(StoreError) {
        self.init(
            version: try row.integer("version"), sha256: try row.bytes("sha256"), compiled: try row.bytes("compiled"),
            recordedAt: try row.instant("recorded_at"))
    }
}

extension RecordedPromise {
    init(_ row: Row) throws(StoreError) {
        self.init(
            entitlement: try row.text("entitlement"),
            acquisition: AcquisitionKey(
                appTransactionID: try row.textIfPresent("app_transaction_id"),
                downloadID: try row.textIfPresent("download_id"),
                originalPurchaseDate: try row.numberIfPresent("original_purchase_date").map {
                    Date(timeIntervalSinceReferenceDate: $0)
                }),
            policyVersion: try row.integer("policy"), until: try row.instantIfPresent("until"),
            recordedAt: try row.instant("recorded_at"))
    }
}

extension Row {
    fileprivate func integer(_ column: String) throws(StoreError) -> Int64 {
        try present(integerIfPresent(column), column)
    }
    fileprivate func text(_ column: String) throws(StoreError) -> String { try present(textIfPresent(column), column) }
    fileprivate func instant(_ column: String) throws(StoreError) -> Date {
        try present(instantIfPresent(column), column)
    }

    fileprivate func bytes(_ column: String) throws(StoreError) -> [UInt8] {
        switch try storage(column) {
        case .blob(let data): return [UInt8](data)
        default: throw Self.damaged(column)
        }
    }

    fileprivate func instantIfPresent(_ column: String) throws(StoreError) -> Date? {
        try integerIfPresent(column).map { Date(millisecondsSince1970: $0) }
    }

    fileprivate func textIfPresent(_ column: String) throws(StoreError) -> String? {
        switch try storage(column) {
        case .null: return nil
        case .string(let text): return text
        default: throw Self.damaged(column)
        }
    }

    fileprivate func numberIfPresent(_ column: String) throws(StoreError) -> Double? {
        switch try storage(column) {
        case .null: return nil
        case .double(let number): return number
        case .int64(let number): return Double(number)
        default: throw Self.damaged(column)
        }
    }

    private func integerIfPresent(_ column: String) throws(StoreError) -> Int64? {
        switch try storage(column) {
        case .null: return nil
        case .int64(let number): return number
        default: throw Self.damaged(column)
        }
    }

    private func present<Value>(_ value: Value?, _ column: String) throws(StoreError) -> Value {
        guard let value else { throw Self.damaged(column) }
        return value
    }

    private func storage(_ column: String) throws(StoreError) -> DatabaseValue.Storage {
        guard let value: DatabaseValue = self[column] as DatabaseValue? else { throw Self.damaged(column) }
        return value.storage
    }

    private static func damaged(_ column: String) -> StoreError {
        .damaged("`\(column)` does not hold what was written")
    }
}
