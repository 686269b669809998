import Foundation

/// Large updates (`LargeUpdate`) write their artifacts in several transactions. The artifacts count once the last
/// transaction has ended: until then, no operation uses them.
///
/// In the table `unfinished_updates`, `started_at` is 0 for an update that can't be finished anymore: another update
/// has taken one of its artifacts, or its artifacts are to be removed.
extension DatabaseTransaction {
    /// The seconds after which an unfinished update is abandoned, and its artifacts are removed.
    static let maximumUpdateDuration: TimeInterval = 86_400

    /// Stores that a large update of a member (row of `customers`) has begun, so that its artifacts don't count yet.
    /// `updateID` is a random number that identifies the update.
    func begin(_ updateID: Int64, of member: Int64) throws(StoreError) {
        try session.execute(
            "INSERT INTO unfinished_updates (customer, update_id, started_at) VALUES ($1, $2, $3)",
            [.integer(member), .integer(updateID), milliseconds])
    }

    /// Whether the update can still be finished: it wasn't abandoned, and no other update took one of its artifacts.
    func isUnderWay(_ updateID: Int64, of member: Int64) throws(StoreError) -> Bool {
        try session.row(
            "SELECT 1 FROM unfinished_updates WHERE customer = $1 AND update_id = $2 AND started_at > 0",
            [.integer(member), .integer(updateID)]) != nil
    }

    /// Finishes an update, so that its artifacts count. Returns false if `isUnderWay` is false; otherwise true.
    func finish(_ updateID: Int64, of member: Int64) throws(StoreError) -> Bool {
        try session.execute(
            "DELETE FROM unfinished_updates WHERE customer = $1 AND update_id = $2 AND started_at > 0",
            [.integer(member), .integer(updateID)]) > 0
    }

    /// Takes an artifact from the unfinished update `other`, which then can't be finished anymore. The artifact belongs
    /// to `updateID` afterward. If `updateID` is nil, the artifact counts immediately.
    func moveArtifact(_ artifact: Artifact, from other: Int64, of member: Int64, for updateID: Int64?)
        throws(StoreError)
    {
        guard other != updateID else { return }
        try session.execute(
            "UPDATE artifacts SET update_id = $1 WHERE customer = $2 AND sha256 = $3",
            [SQLValue(updateID), .integer(member), .blob(artifact.sha256)])
        try session.execute(
            "UPDATE unfinished_updates SET started_at = 0 WHERE customer = $1 AND update_id = $2",
            [.integer(member), .integer(other)])
    }

    /// Returns some of what is left to remove: rows of erased customers, and artifacts of updates that will never be
    /// finished. Nil if nothing is left.
    func leftovers() throws(StoreError) -> Leftovers? {
        let updates = try session.rows(
            "SELECT customer, update_id FROM unfinished_updates WHERE started_at < $1 LIMIT \(Self.leftoversPerRead)",
            [oldestStart]
        ).map { row throws(StoreError) in (member: try row.integer(0), id: try row.integer(1)) }
        guard !updates.isEmpty else { return nil }
        let hidden = updates.filter { $0.id == Self.erasureUpdateID }.map(\.member)
        return Leftovers(updates: updates, rehearsals: try rehearsals(naming: hidden))
    }

    private static let leftoversPerRead = 32
    /// The earliest start of an update that isn't abandoned yet.
    private var oldestStart: SQLValue { SQLValue(now.addingTimeInterval(-Self.maximumUpdateDuration)) }

    /// Removes some rows of an update that will never be finished, or of an erased customer. Returns true if no more
    /// rows are left.
    func remove(_ update: (member: Int64, id: Int64)) throws(StoreError) -> Bool {
        // The customer is locked, so that the update writes nothing more in the meantime.
        _ = try member(.rowID(update.member))
        let isListed = try session.row(
            "SELECT 1 FROM unfinished_updates WHERE customer = $1 AND update_id = $2 AND started_at < $3",
            [.integer(update.member), .integer(update.id), oldestStart])
        // If the update isn't listed, another process has removed or finished it.
        guard isListed != nil else { return true }
        guard update.id != Self.erasureUpdateID else { return try removeSome(ofHidden: update.member) }
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

/// What is left to remove: artifacts of updates that will never be finished, and rows of erased customers.
struct Leftovers: Sendable {
    /// The row ID of the member, and the ID of the update; `erasureUpdateID` for the erasure of the member.
    let updates: [(member: Int64, id: Int64)]
    /// The public IDs of erased customers whom examples in rehearsals name, by the ID of the rehearsal.
    let rehearsals: [String: Set<String>]
}
