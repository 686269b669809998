import Foundation
import TenureCore

/// Why two customers are one.
package enum MergeReason: String, Sendable, Hashable {
    case signedTogether
    case sameUser
    case support
}

extension DatabaseTransaction {
    /// More than one person has, and few enough to be read with every act; no chain of merges is longer.
    static let mostMembers = 100

    func mayJoin(_ ones: [Int64], _ others: [Int64]) -> Bool { ones.count + others.count <= Self.mostMembers }

    /// What was written of `other` stays theirs, so that it can be undone, and counts for `customer` from now on.
    ///
    /// `user`: the one of the app's users because of whom they are one, where it is that.
    func merge(
        _ other: Customer, into customer: Customer, because cause: MergeReason, of user: String? = nil,
        actor: String?, reason: String? = nil
    ) throws(StoreError) -> Customer {
        try point(other, to: customer, because: cause, of: user, actor: actor, reason: reason)
        return try update(customer, joining: [other.facts], in: try group(of: customer.id))
    }

    /// Says that they are one, and nothing yet of what they have together.
    func point(
        _ other: Customer, to customer: Customer, because cause: MergeReason, of user: String? = nil,
        actor: String?, reason: String? = nil
    ) throws(StoreError) {
        try session.execute(
            "UPDATE customers SET merged_into = $1, next_end = NULL WHERE id = $2",
            [.integer(customer.id), .integer(other.id)])
        var detail = ["customer": other.publicID, "because": cause.rawValue]
        // Whom it was that signed data named: of several who are one, the account is one of theirs.
        if cause == .signedTogether, other.member != other.id {
            detail["named"] = try member(.number(other.member))?.publicID
        }
        detail[Self.userKey] = user
        detail["reason"] = reason
        try append(.merged, to: customer, actor: actor, detail: detail)
        try tell(
            Message(.customerMerged, ["because": cause.rawValue, "merged": other.publicID]), of: customer)
    }

    /// What a customer has with all who turned out to be the same.
    func update(
        _ customer: Customer, joining others: [CustomerFacts], in group: [Int64]
    ) throws(StoreError) -> Customer {
        let isComplete = try purchasesAreComplete(of: group)
        return try update(customer, to: try combined(customer.facts, with: others, isComplete: isComplete))
    }

    func areSeparated(_ one: Int64, _ other: Int64) throws(StoreError) -> Bool {
        try areSeparated(try group(of: one), try group(of: other))
    }

    func areSeparated(_ ones: [Int64], _ others: [Int64]) throws(StoreError) -> Bool {
        let (few, many) = ones.count < others.count ? (ones, Set(others)) : (others, Set(ones))
        for (mine, theirs) in [("first", "second"), ("second", "first")] {
            let rows = try rows(
                "SELECT \(theirs) FROM separations WHERE \(mine) IN \(DatabaseTable.batchPlaces)", about: few)
            for row in rows where many.contains(try row.integer(0)) { return true }
        }
        return false
    }
}
