import Foundation
import TenureCore

extension Ledger {
    /// Those of a group whom signed data joined with one another, member by member: each an account of the App Store of
    /// its own. What a user or a person of support joined are several.
    func accounts(among group: [Int64]) throws(StoreError) -> [[Int64]] {
        guard group.count > 1 else { return [group] }
        var members: [String: Int64] = [:]
        for id in group {
            if let member = try member(.number(id), forUpdate: false) { members[member.publicID] = id }
        }
        var account = Dictionary(uniqueKeysWithValues: group.map { ($0, $0) })
        for id in group {
            for event in try events(of: id)
            where event.kind == .merged && event.detail["because"] == MergeReason.signedTogether.rawValue {
                // Whom the signed data named; who was merged may have stood for more than them.
                guard let other = (event.detail["named"] ?? event.detail["customer"]).flatMap({ members[$0] }),
                    let one = account[id], let two = account[other]
                else { continue }
                for (member, its) in account where its == max(one, two) { account[member] = min(one, two) }
            }
        }
        return Dictionary(grouping: group) { account[$0] ?? $0 }.values.sorted { $0[0] < $1[0] }
    }

    /// The account of one of them.
    func account(of member: Int64, among group: [Int64]) throws(StoreError) -> [Int64] {
        try accounts(among: group).first { $0.contains(member) } ?? [member]
    }

    /// Whether all purchases were seen of each account: what one of them has says nothing of another's.
    func purchasesAreComplete(of group: [Int64]) throws(StoreError) -> Bool {
        for account in try accounts(among: group) where try !isComplete(account) { return false }
        return true
    }

    /// Whether they are complete of all accounts but the member's.
    func othersAreComplete(than member: Int64, among group: [Int64]) throws(StoreError) -> Bool {
        for account in try accounts(among: group) where !account.contains(member) {
            guard try isComplete(account) else { return false }
        }
        return true
    }

    /// Whether it was ever said of one of these.
    func isComplete(_ account: [Int64]) throws(StoreError) -> Bool {
        for member in account {
            let row = try session.row(
                "SELECT 1 FROM events WHERE customer = $1 AND kind = $2 LIMIT 1",
                [.integer(member), .text(RecordedEvent.Kind.purchasesComplete.rawValue)])
            if row != nil { return true }
        }
        return false
    }

    /// Whether others turned out to be this customer.
    func hasMembers(_ id: Int64) throws(StoreError) -> Bool {
        try session.row("SELECT 1 FROM customers WHERE merged_into = $1 LIMIT 1", [.integer(id)]) != nil
    }
}
