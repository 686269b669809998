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

    init(_ session: any SQLSession, at now: Date = Date()) {
        self.session = session
        self.now = now
    }

    var milliseconds: SQLValue { .integer(now.millisecondsSince1970) }
}
