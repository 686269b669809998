/// Finds out which members of a merged customer (`DatabaseTransaction`) are the same App Store account.
extension DatabaseTransaction {
    /// Divides the members of a customer into App Store accounts: returns the row IDs of each account's members.
    /// Members that were merged because of signed data are one account. Members that were merged for another reason
    /// (`MergeReason`) are different accounts.
    func accounts(among group: [Int64]) throws(StoreError) -> [[Int64]] {
        guard group.count > 1 else { return [group] }
        var members: [String: Int64] = [:]
        for row in try rows("SELECT public_id, id FROM customers WHERE id IN \(Self.batch)", about: group) {
            members[try row.text(0)] = try row.integer(1)
        }
        var accounts = JoinedRowIDs()
        let merges = try rows(
            """
            SELECT customer, detail FROM events
            WHERE customer IN \(Self.batch) AND kind = '\(StoredEvent.Kind.merged.rawValue)'
            """, about: group)
        for row in merges {
            let detail = try row.detail(1)
            guard detail["because"] == MergeReason.signedTogether.rawValue,
                // `detail["customer"]` is the customer that was merged. `named` is stored only if the signed data named
                // another of its members.
                let other = (detail["named"] ?? detail["customer"]).flatMap({ members[$0] })
            else { continue }
            accounts.join(try row.integer(0), other)
        }
        return Dictionary(grouping: group) { accounts.smallest(inGroupOf: $0) }.values.sorted { $0[0] < $1[0] }
    }

    /// The members of the account to which a member belongs, including that member.
    func account(of member: Int64, among group: [Int64]) throws(StoreError) -> [Int64] {
        try accounts(among: group).first { $0.contains(member) } ?? [member]
    }

    /// Whether all purchases of each account of a customer are known. All accounts matter: that the service knows all
    /// purchases of one account says nothing about another account.
    func purchasesAreComplete(of group: [Int64]) throws(StoreError) -> Bool {
        try areComplete(try accounts(among: group))
    }

    /// Whether all purchases of the customer's other accounts are known: of each account except that of `member`.
    func otherAccountsAreComplete(than member: Int64, among group: [Int64]) throws(StoreError) -> Bool {
        try areComplete(try accounts(among: group).filter { !$0.contains(member) })
    }

    /// Whether each account has a member with an event that says that all purchases are known.
    private func areComplete(_ accounts: [[Int64]]) throws(StoreError) -> Bool {
        let complete = try membersWithAllPurchases(among: accounts.flatMap { $0 })
        return accounts.allSatisfy { !complete.isDisjoint(with: $0) }
    }

    /// Returns the members with an event which says that all their purchases are known.
    func membersWithAllPurchases(among members: [Int64]) throws(StoreError) -> Set<Int64> {
        Set(
            try integers(
                """
                SELECT DISTINCT customer FROM events
                WHERE customer IN \(Self.batch) AND kind = '\(StoredEvent.Kind.purchasesComplete.rawValue)'
                """, about: members))
    }

    /// Whether the customer with this row ID is a merged customer: other customers were merged into it.
    func isMerged(_ id: Int64) throws(StoreError) -> Bool {
        try session.row("SELECT 1 FROM customers WHERE merged_into = $1 LIMIT 1", [.integer(id)]) != nil
    }
}

/// Groups of row IDs, each represented by its smallest row ID.
private struct JoinedRowIDs {
    /// For each row ID except the smallest of a group: a smaller row ID of the same group.
    private var smallerRowIDs: [Int64: Int64] = [:]

    func smallest(inGroupOf rowID: Int64) -> Int64 {
        var smallest = rowID
        while let smaller = smallerRowIDs[smallest] { smallest = smaller }
        return smallest
    }

    mutating func join(_ one: Int64, _ other: Int64) {
        let (one, other) = (smallest(inGroupOf: one), smallest(inGroupOf: other))
        if one != other { smallerRowIDs[max(one, other)] = min(one, other) }
    }
}
