package import Foundation

/// The operations of the database, inside one transaction.
///
/// Each file in this folder adds the operations of one concept. All files use these terms:
///
/// - **Member:** a row of `customers`. A merge keeps both rows, so that it can be undone. So a merged customer has
///   several members, and `merged_into` of one row names another. A *group* is the row IDs of all members of one
///   customer.
/// - **Survivor:** the member that isn't merged into another member. The survivor's row has the facts (`CustomerFacts`)
///   of all members.
/// - **Unbound customer:** artifacts that came without proof that they belong to the sender, stored as a customer. It
///   is linked to the customers that these artifacts name.
/// - **Hidden customer:** a customer that is being erased. It is merged into itself, and no operation finds it.
/// - **Piece:** one of the short transactions into which a large operation is divided, so that other writers don't wait
///   long.
package struct DatabaseTransaction {
    package let session: any DatabaseSession
    /// The time for all rows that this transaction writes.
    package let now: Date
    /// Facts that were read before this transaction, by the customer's row ID. If the row still has the same bytes, the
    /// facts aren't decoded again.
    var knownFacts: [Int64: EncodedFacts] = [:]
    /// The facts of the customer that this transaction changes, encoded before the transaction.
    var preparedFacts: EncodedFacts?
    /// Results about customers with many purchases, computed outside transactions. If a result is missing, the
    /// transaction ends without a change, and runs again after the result was computed.
    var largeFacts: LargeFacts?
    /// What earlier transactions of an erasure hid: the counts that `hide(_:)` returned.
    var hiddenBefore: [String: Int] = [:]

    package init(_ session: any DatabaseSession, at now: Date = Date()) {
        self.session = session
        self.now = now
    }

    /// The maximum number of keys (`LockKey`) that one transaction locks. With more keys, PostgreSQL would need a lock
    /// that blocks all other transactions.
    static let maximumKeys = 64
    /// The largest size of facts, in bytes, that one transaction decodes or computes. Larger facts are decoded and
    /// computed before the transaction, so that other transactions don't wait.
    static let maximumFactsBytesPerTransaction = 32_768
    /// The maximum number of artifacts, purchases and renewals that one transaction adds.
    static let maximumEntriesInOnePiece = 128

    /// `now` as columns store it: milliseconds since 1970.
    var milliseconds: SQLValue { SQLValue(now) }

    /// The placeholders of one batch of row IDs: `($1, $2 …)`.
    static let batch = DatabaseTable.batchPlaceholders

    /// Runs a query for each batch of row IDs, such as those of customers, and returns all rows. The query has the
    /// placeholders `batch`.
    func rows(_ sql: String, about ids: [Int64]) throws(StoreError) -> [SQLRow] {
        var rows: [SQLRow] = []
        for chunk in ids.chunks(of: DatabaseTable.batchSize) {
            rows += try session.rows(sql, DatabaseTable.batch(chunk))
        }
        return rows
    }

    /// Returns the first column of `rows(_:about:)`.
    func integers(_ sql: String, about ids: [Int64]) throws(StoreError) -> [Int64] {
        try rows(sql, about: ids).map { row throws(StoreError) in try row.integer(0) }
    }

    /// Returns the first column of `rows(_:about:)`.
    func texts(_ sql: String, about ids: [Int64]) throws(StoreError) -> [String] {
        try rows(sql, about: ids).map { row throws(StoreError) in try row.text(0) }
    }

    /// Runs a statement for each batch of row IDs. The statement has the placeholders `batch`.
    func execute(_ sql: String, about ids: [Int64]) throws(StoreError) {
        for chunk in ids.chunks(of: DatabaseTable.batchSize) { try session.execute(sql, DatabaseTable.batch(chunk)) }
    }
}
