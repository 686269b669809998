import Foundation
import TenureCore

extension DatabaseTransaction {
    /// Those of a group whom signed data joined with one another, member by member: each an account of the App Store of
    /// its own. What a user or a person of support joined are several.
    func accounts(among group: [Int64]) throws(StoreError) -> [[Int64]] {
        guard group.count > 1 else { return [group] }
        var members: [String: Int64] = [:]
        for row in try rows(
            "SELECT public_id, id FROM customers WHERE id IN \(DatabaseTable.batchPlaces)", about: group)
        {
            members[try row.text(0)] = try row.integer(1)
        }
        var accounts = JoinedNumbers()
        let merges = try rows(
            """
            SELECT customer, detail FROM events
            WHERE customer IN \(DatabaseTable.batchPlaces) AND kind = '\(StoredEvent.Kind.merged.rawValue)'
            """, about: group)
        for row in merges {
            guard let text = try row.textIfPresent(1) else { continue }
            let detail = try [String: String](json: text)
            guard detail["because"] == MergeReason.signedTogether.rawValue,
                // Whom the signed data named; who was merged may have stood for more than them.
                let other = (detail["named"] ?? detail["customer"]).flatMap({ members[$0] })
            else { continue }
            accounts.join(try row.integer(0), other)
        }
        return Dictionary(grouping: group) { accounts.first(of: $0) }.values.sorted { $0[0] < $1[0] }
    }

    /// What a statement finds of any of these, some dozens at a time.
    func rows(_ sql: String, about ids: [Int64]) throws(StoreError) -> [SQLRow] {
        var rows: [SQLRow] = []
        for chunk in ids.chunks(of: DatabaseTable.batchSize) {
            rows += try session.rows(sql, DatabaseTable.batch(Array(chunk)))
        }
        return rows
    }

    /// How many rows a statement changes that concerns any of these, some dozens at a time.
    @discardableResult func execute(_ sql: String, about ids: [Int64]) throws(StoreError) -> Int {
        var count = 0
        for chunk in ids.chunks(of: DatabaseTable.batchSize) {
            count += try session.execute(sql, DatabaseTable.batch(Array(chunk)))
        }
        return count
    }

    /// The account of one of them.
    func account(of member: Int64, among group: [Int64]) throws(StoreError) -> [Int64] {
        try accounts(among: group).first { $0.contains(member) } ?? [member]
    }

    /// Whether all purchases were seen of each account: what one of them has says nothing of another's.
    func purchasesAreComplete(of group: [Int64]) throws(StoreError) -> Bool {
        try areComplete(try accounts(among: group))
    }

    /// Whether they are complete of all accounts but the member's.
    func othersAreComplete(than member: Int64, among group: [Int64]) throws(StoreError) -> Bool {
        try areComplete(try accounts(among: group).filter { !$0.contains(member) })
    }

    private func areComplete(_ accounts: [[Int64]]) throws(StoreError) -> Bool {
        let complete = try rows(
            """
            SELECT DISTINCT customer FROM events
            WHERE customer IN \(DatabaseTable.batchPlaces) AND kind = '\(StoredEvent.Kind.purchasesComplete.rawValue)'
            """, about: accounts.flatMap { $0 })
        var members: Set<Int64> = []
        for row in complete { members.insert(try row.integer(0)) }
        return accounts.allSatisfy { !members.isDisjoint(with: $0) }
    }

    /// Whether it was ever said of one of these.
    func isComplete(_ account: [Int64]) throws(StoreError) -> Bool {
        try !rows(
            """
            SELECT customer FROM events
            WHERE customer IN \(DatabaseTable.batchPlaces) AND kind = '\(StoredEvent.Kind.purchasesComplete.rawValue)'
            LIMIT 1
            """, about: account
        ).isEmpty
    }

    /// Whether others turned out to be this customer.
    func hasMembers(_ id: Int64) throws(StoreError) -> Bool {
        try session.row("SELECT 1 FROM customers WHERE merged_into = $1 LIMIT 1", [.integer(id)]) != nil
    }
}

/// Numbers that belong together, each group known by its smallest.
private struct JoinedNumbers {
    private var parents: [Int64: Int64] = [:]

    mutating func first(of number: Int64) -> Int64 {
        var root = number
        while let parent = parents[root] { root = parent }
        // So that nobody goes a long way twice.
        var next = number
        while next != root, let parent = parents[next] {
            parents[next] = root
            next = parent
        }
        return root
    }

    mutating func join(_ one: Int64, _ other: Int64) {
        let (one, other) = (first(of: one), first(of: other))
        if one != other { parents[max(one, other)] = min(one, other) }
    }
}
