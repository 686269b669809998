/// The reason for a merge of two customers.
enum MergeReason: String, Sendable, Hashable {
    /// Signed data named both customers together.
    case signedTogether
    /// The app's server linked both customers to one user.
    case sameUser
    case support
}

/// Merges two customers into one.
extension DatabaseTransaction {
    /// The maximum number of members (rows of `customers`) of one customer: more accounts than one person has. The
    /// maximum keeps updates short, because each update reads all members. It also limits how many merges must be
    /// followed from a member to the row with the facts.
    static let maximumMembers = 100

    /// Whether two customers with these members together stay within the maximum.
    func mayJoin(_ ones: [Int64], _ others: [Int64]) -> Bool { ones.count + others.count <= Self.maximumMembers }

    /// Merges `other` into `customer`, and returns the merged customer. The rows of `other` still refer to `other`, so
    /// that the merge can be undone.
    ///
    /// - Parameter user: the ID of the app's user that caused the merge; nil for other reasons.
    func merge(
        _ other: Customer, into customer: Customer, because cause: MergeReason, of user: String? = nil,
        actor: String?, reason: String? = nil
    ) throws(StoreError) -> Customer {
        try storeMerge(other, into: customer, because: cause, of: user, actor: actor, reason: reason)
        return try update(customer, joining: [other.facts], in: try group(of: customer.id))
    }

    /// Stores the merge and its event, without combining the facts.
    func storeMerge(
        _ other: Customer, into customer: Customer, because cause: MergeReason, of user: String? = nil,
        actor: String?, reason: String? = nil
    ) throws(StoreError) {
        // Webhooks report nothing about `other` anymore, so its `next_comparison` is NULL.
        try session.execute(
            "UPDATE customers SET merged_into = $1, next_comparison = NULL WHERE id = $2",
            [.integer(customer.id), .integer(other.id)])
        var detail = ["customer": other.publicID, "because": cause.rawValue]
        // Stores which member the signed data named, because `other` may be a customer with several accounts.
        if cause == .signedTogether, other.member != other.id {
            detail["named"] = try member(.rowID(other.member))?.publicID
        }
        detail[Self.userKey] = user
        detail["reason"] = reason
        try append(.merged, to: customer, actor: actor, detail: detail)
        try queue(Message(.customerMerged, ["because": cause.rawValue, "merged": other.publicID]), about: customer)
    }

    /// Adds the facts of merged customers to a customer's facts, and stores the result.
    ///
    /// - Parameter group: the row IDs of all members of the merged customer.
    func update(
        _ customer: Customer, joining others: [CustomerFacts], in group: [Int64]
    ) throws(StoreError) -> Customer {
        let isComplete = try purchasesAreComplete(of: group)
        return try update(customer, to: try result(of: .sum(customer.facts, others, isComplete: isComplete)))
    }

    /// Whether support separated a member of one customer from a member of the other. Only support merges them again.
    func areSeparated(_ ones: [Int64], _ others: [Int64]) throws(StoreError) -> Bool {
        let (few, many) = ones.count < others.count ? (ones, Set(others)) : (others, Set(ones))
        for (mine, theirs) in [("first", "second"), ("second", "first")] {
            let sql = "SELECT \(theirs) FROM separations WHERE \(mine) IN \(Self.batch)"
            if try integers(sql, about: few).contains(where: many.contains) { return true }
        }
        return false
    }
}
