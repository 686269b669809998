import TenureCore

/// A rollback in effect that hasn't restored all of its promises yet.
struct UnfinishedRollback: Sendable, Hashable {
    let publication: Int64
    /// The publication to which it returned. What later ones ended counts again.
    let former: Int64

    /// The name under `progress`, with both numbers as its value.
    fileprivate static let name = "rollback"
    fileprivate static let condition = "ended_by > $1 AND ended_by < $2"
    fileprivate var arguments: [SQLValue] { [.integer(former), .integer(publication)] }
}

extension DatabaseTransaction {
    func unfinishedRollback() throws(StoreError) -> UnfinishedRollback? {
        guard let text = try progress(UnfinishedRollback.name) else { return nil }
        let numbers = text.split(separator: " ").compactMap { Int64($0) }
        guard numbers.count == 2 else { throw .damaged("the note about an unfinished rollback is invalid") }
        return UnfinishedRollback(publication: numbers[0], former: numbers[1])
    }

    /// Notes that a rollback has promises to restore. Returns their number.
    func begin(_ rollback: UnfinishedRollback) throws(StoreError) -> Int {
        let row = try session.row(
            "SELECT count(*) FROM promises WHERE \(UnfinishedRollback.condition)", rollback.arguments)
        let count = Int(clamping: try row?.integer(0) ?? 0)
        if count > 0 {
            try setProgress(UnfinishedRollback.name, to: "\(rollback.publication) \(rollback.former)")
        }
        return count
    }

    /// Returns the customers with promises that this rollback still has to restore, in the order of their numbers.
    func customers(awaiting rollback: UnfinishedRollback) throws(StoreError) -> [SizedCustomer] {
        try session.allowLongStatements()
        let members = try session.rows(
            "SELECT DISTINCT customer FROM promises WHERE \(UnfinishedRollback.condition)", rollback.arguments
        ).map { row throws(StoreError) in try row.integer(0) }
        return try sizes(of: Set(try roots(of: Set(members)).values).sorted())
    }

    /// Restores the promises of a customer, and adds an event to the timeline.
    func restorePromises(
        of id: Int64, for rollback: UnfinishedRollback, _ publication: StoredPublication
    ) throws(StoreError) {
        guard let customer = try customer(id, forUpdate: true) else { return }
        var promises: [StoredPromise] = []
        for member in try group(of: customer.id) {
            let found = try self.promises(of: member, endedAfter: rollback.former, before: rollback.publication)
            guard !found.isEmpty else { continue }
            promises += found
            try session.execute(
                "UPDATE promises SET ended_by = NULL WHERE \(UnfinishedRollback.condition) AND customer = $3",
                rollback.arguments + [.integer(member)])
        }
        guard !promises.isEmpty else { return }
        var facts = customer.facts
        facts.add(promises)
        var detail = ["publication": String(publication.id), "version": String(publication.version)]
        detail["reason"] = publication.reason
        detail["entitlements"] = Set(promises.map(\.entitlement)).sorted().joined(separator: ", ")
        try append(.promisesRestored, to: customer, actor: publication.actor, detail: detail)
        _ = try update(customer, to: facts)
    }

    /// Removes the note if all promises are restored. Returns whether they are.
    func end(_ rollback: UnfinishedRollback) throws(StoreError) -> Bool {
        guard try unfinishedRollback() == rollback else { return true }
        guard try customers(awaiting: rollback).isEmpty else { return false }
        try setProgress(UnfinishedRollback.name, to: nil)
        return true
    }
}
