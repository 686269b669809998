import Foundation

/// Large acts write artifacts in pieces; all of them count with the last one.
extension DatabaseTransaction {
    /// Acts that began earlier (seconds) are over: what they left is removed.
    static let longestUpdate: TimeInterval = 86_400
    func begin(_ updateID: Int64, of member: Int64) throws(StoreError) {
        try session.execute(
            "INSERT INTO unfinished_updates (customer, update_id, started_at) VALUES ($1, $2, $3)",
            [.integer(member), .integer(updateID), milliseconds])
    }

    /// Whether it is still to be finished, and all that it wrote is still its own.
    func isUnderWay(_ updateID: Int64, of member: Int64) throws(StoreError) -> Bool {
        try session.row(
            "SELECT 1 FROM unfinished_updates WHERE customer = $1 AND update_id = $2 AND started_at > 0",
            [.integer(member), .integer(updateID)]) != nil
    }

    /// From now on its artifacts count. False where another act took some of them.
    func finish(_ updateID: Int64, of member: Int64) throws(StoreError) -> Bool {
        try session.execute(
            "DELETE FROM unfinished_updates WHERE customer = $1 AND update_id = $2 AND started_at > 0",
            [.integer(member), .integer(updateID)]) > 0
    }

    /// Makes an artifact of an unfinished act one of this act, or one that counts (nil). The other can't be finished.
    func take(_ artifact: Artifact, from other: Int64, of member: Int64, for updateID: Int64?) throws(StoreError) {
        guard other != updateID else { return }
        try session.execute(
            "UPDATE artifacts SET update_id = $1 WHERE customer = $2 AND sha256 = $3",
            [SQLValue(updateID), .integer(member), .blob(artifact.sha256)])
        try session.execute(
            "UPDATE unfinished_updates SET started_at = 0 WHERE customer = $1 AND update_id = $2",
            [.integer(member), .integer(other)])
    }

    /// Those who have artifacts that may count soon.
    func membersOfUnfinishedUpdates() throws(StoreError) -> [Int64] {
        try session.rows("SELECT DISTINCT customer FROM unfinished_updates").map { row throws(StoreError) in
            try row.integer(0)
        }
    }

    /// Some of the erased customers and of the updates that will never be finished. Nil if there are none.
    func leftovers() throws(StoreError) -> Leftovers? {
        let updates = try session.rows(
            "SELECT customer, update_id FROM unfinished_updates WHERE started_at < $1 LIMIT \(Self.leftoversPerRead)",
            [.integer(now.addingTimeInterval(-Self.longestUpdate).millisecondsSince1970)]
        ).map { row throws(StoreError) in
            Leftovers.Update(member: try row.integer(0), id: try row.integer(1))
        }
        guard !updates.isEmpty else { return nil }
        let hidden = updates.filter { $0.id == Self.erasing }.map(\.member)
        return Leftovers(updates: updates, rehearsals: try rehearsals(naming: hidden))
    }

    private static let leftoversPerRead = 32

    /// Removes some rows of an update that will never be finished, or of an erased customer. Returns whether none is left.
    func remove(_ update: Leftovers.Update) throws(StoreError) -> Bool {
        // Locked, so that no piece of it is written meanwhile.
        _ = try member(.number(update.member))
        let isListed = try session.row(
            "SELECT 1 FROM unfinished_updates WHERE customer = $1 AND update_id = $2 AND started_at < $3",
            [
                .integer(update.member), .integer(update.id),
                .integer(now.addingTimeInterval(-Self.longestUpdate).millisecondsSince1970),
            ])
        // Another process was faster.
        guard isListed != nil else { return true }
        guard update.id != Self.erasing else { return try removeSome(ofHidden: update.member) }
        let count = try session.execute(
            "DELETE FROM artifacts WHERE id IN (SELECT id FROM artifacts WHERE update_id = $1 LIMIT \(Self.removedPerPiece))",
            [.integer(update.id)])
        guard count == 0 else { return false }
        try session.execute(
            "DELETE FROM unfinished_updates WHERE customer = $1 AND update_id = $2",
            [.integer(update.member), .integer(update.id)])
        return true
    }
}

/// What erasures and unfinished updates left.
struct Leftovers: Sendable {
    struct Update: Sendable {
        let member: Int64
        /// `erasing` for an erased customer.
        let id: Int64
    }

    let updates: [Update]
    /// Rehearsals whose examples name one of the erased customers.
    let rehearsals: [String]
}
