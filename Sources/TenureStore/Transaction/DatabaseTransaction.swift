package import Foundation
import TenureCore

/// The operations of the database, inside one transaction.
///
/// Each file in this folder adds the operations of one concept.
package struct DatabaseTransaction {
    package let session: any DatabaseSession
    package let now: Date
    /// Facts that were read before this transaction, by customer. They aren't decoded again if the row still holds the
    /// same bytes.
    var remembered: [Int64: EncodedFacts] = [:]
    /// The customer's facts after a change, encoded before this transaction.
    var prepared: EncodedFacts?
    /// What a change needs of large customers, computed before this transaction.
    var largeFacts: LargeFacts?
    /// How many entries of each kind an erasure hid in earlier transactions.
    var hiddenBefore: [String: Int] = [:]

    package init(_ session: any DatabaseSession, at now: Date = Date()) {
        self.session = session
        self.now = now
    }

    var milliseconds: SQLValue { .integer(now.millisecondsSince1970) }
}
