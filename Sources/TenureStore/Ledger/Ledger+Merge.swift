import Foundation
import TenureCore

/// Why two customers are one.
package enum MergeReason: String, Sendable, Hashable {
    case signedTogether
    case sameUser
    case support
}

extension Ledger {
    /// What was written of `other` stays theirs, so that it can be undone, and counts for `customer` from now on.
    ///
    /// `user`: the one of the app's users because of whom they are one, where it is that.
    func merge(
        _ other: Customer, into customer: Customer, because reason: MergeReason, of user: String? = nil, actor: String?
    ) throws(StoreError) -> Customer {
        try session.execute(
            "UPDATE customers SET merged_into = $1, next_end = NULL WHERE id = $2",
            [.integer(customer.id), .integer(other.id)])
        var detail = ["customer": other.publicID, "because": reason.rawValue]
        detail["user"] = user
        try append(.merged, to: customer, actor: actor, detail: detail)
        try tell(
            Message(.customerMerged, ["because": reason.rawValue, "merged": other.publicID]), of: customer)
        var facts = customer.facts
        facts.add(other.facts)
        return try update(customer, to: facts)
    }

    func areSeparated(_ one: Int64, _ other: Int64) throws(StoreError) -> Bool {
        try areSeparated(try group(of: one), try group(of: other))
    }

    func areSeparated(_ ones: [Int64], _ others: [Int64]) throws(StoreError) -> Bool {
        for one in ones {
            for other in others {
                let row = try session.row(
                    "SELECT 1 FROM separations WHERE first = $1 AND second = $2",
                    [.integer(min(one, other)), .integer(max(one, other))])
                if row != nil { return true }
            }
        }
        return false
    }
}
