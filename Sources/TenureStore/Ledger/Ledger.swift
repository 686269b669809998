import Foundation
import TenureCore

/// Reads and appends to the ledger, inside one transaction of whatever database.
///
/// Each file beside this one adds the verbs of one concept.
struct Ledger {
    let session: any SQLSession
    let now: Date
    /// Facts that were read before this transaction, by customer: they aren't decoded again where the row still holds
    /// the same bytes.
    var remembered: [Int64: EncodedFacts] = [:]

    /// What may be known of a customer after an act, encoded before this transaction.
    var prepared: EncodedFacts?
    /// How many entries of each kind an erasure hid in earlier pieces.
    var hiddenBefore: [String: Int] = [:]

    init(_ session: any SQLSession, at now: Date = Date()) {
        self.session = session
        self.now = now
    }

    var milliseconds: SQLValue { .integer(now.millisecondsSince1970) }
}
