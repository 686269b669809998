import Foundation
import TenureCore

extension Ledger {
    typealias Deriving = (CustomerLedger) throws(StoreError) -> CustomerFacts

    /// Undoes the merge of a member: they, and who had turned out to be them, are a customer of their own again. What
    /// either side has is derived from what was written of it.
    ///
    /// `isForGood`: nothing signed that comes later joins them.
    func part(
        _ member: CustomerMember, isForGood: Bool, actor: String?, _ detail: [String: String], by derive: Deriving
    ) throws(StoreError) {
        let former = try customer(of: member)
        guard former.id != member.id else { return }
        try mergeMember(member.id, into: nil)
        if isForGood { try separate(member.id, from: try group(of: former.id)) }
        for (publicID, other) in [(member.publicID, former.id), (former.publicID, member.id)] {
            guard let customer = try restore(other, by: derive) else { continue }
            try append(
                .unmerged, to: customer, actor: actor, detail: detail.merging(["customer": publicID]) { $1 })
        }
    }

    /// What one of those who parted has, from what was written of them; the world is told of it anew.
    func restore(_ id: Int64, by derive: Deriving) throws(StoreError) -> Customer? {
        guard let (customer, _) = try rederive(id, by: derive) else { return nil }
        try session.execute(
            "UPDATE customers SET next_end = $1 WHERE id = $2 AND EXISTS (SELECT 1 FROM endpoints)",
            [milliseconds, .integer(customer.id)])
        return customer
    }

    /// Takes one member alone out of those who are one. The rest, where there is any, stays one.
    func detach(_ member: CustomerMember) throws(StoreError) -> Int64? {
        let children = try session.rows(
            "SELECT id FROM customers WHERE merged_into = $1 ORDER BY id", [.integer(member.id)]
        ).map { row throws(StoreError) in try row.integer(0) }
        guard let heir = member.mergedInto ?? children.first else { return nil }
        try mergeMember(member.id, into: nil)
        if member.mergedInto == nil { try mergeMember(heir, into: nil) }
        for child in children where child != heir { try mergeMember(child, into: heir) }
        return try customer(heir)?.id
    }

    func separate(_ one: Int64, from others: [Int64]) throws(StoreError) {
        for other in others where other != one {
            try session.execute(
                "INSERT INTO separations (first, second) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                [.integer(min(one, other)), .integer(max(one, other))])
        }
    }

    /// A person says that they are one after all.
    func forgetSeparations(between one: Int64, and other: Int64) throws(StoreError) {
        let (ones, others) = (try group(of: one), try group(of: other))
        for one in ones {
            for other in others {
                try session.execute(
                    "DELETE FROM separations WHERE first = $1 AND second = $2",
                    [.integer(min(one, other)), .integer(max(one, other))])
            }
        }
    }

    /// Why a member is one with those into whom they were merged: what was said last.
    func mergeDetail(of member: CustomerMember, among group: [Int64]) throws(StoreError) -> [String: String] {
        var latest: RecordedEvent?
        for other in group {
            for event in try events(of: other)
            where event.kind == .merged && event.detail["customer"] == member.publicID
                && event.at >= latest?.at ?? .distantPast
            {
                latest = event
            }
        }
        return latest?.detail ?? [:]
    }
}
