import Foundation

/// Large acts write artifacts in pieces; all of them count with the last one.
extension Ledger {
    /// Acts that began earlier (seconds) are over: what they left is removed.
    static let longestAct: TimeInterval = 86_400
    func begin(_ act: Int64, of member: Int64) throws(StoreError) {
        try session.execute(
            "INSERT INTO unfinished_acts (customer, act, started_at) VALUES ($1, $2, $3)",
            [.integer(member), .integer(act), milliseconds])
    }

    /// Whether it is still to be finished, and all that it wrote is still its own.
    func isUnderWay(_ act: Int64, of member: Int64) throws(StoreError) -> Bool {
        try session.row(
            "SELECT 1 FROM unfinished_acts WHERE customer = $1 AND act = $2 AND started_at > 0",
            [.integer(member), .integer(act)]) != nil
    }

    /// From now on its artifacts count. False where another act took some of them.
    func finish(_ act: Int64, of member: Int64) throws(StoreError) -> Bool {
        try session.execute(
            "DELETE FROM unfinished_acts WHERE customer = $1 AND act = $2 AND started_at > 0",
            [.integer(member), .integer(act)]) > 0
    }

    /// Makes an artifact of an unfinished act one of this act, or one that counts (nil). The other can't be finished.
    func take(_ artifact: Artifact, from other: Int64, of member: Int64, for act: Int64?) throws(StoreError) {
        guard other != act else { return }
        try session.execute(
            "UPDATE artifacts SET act = $1 WHERE customer = $2 AND sha256 = $3",
            [SQLValue(act), .integer(member), .blob(artifact.sha256)])
        try session.execute(
            "UPDATE unfinished_acts SET started_at = 0 WHERE customer = $1 AND act = $2",
            [.integer(member), .integer(other)])
    }

    /// Those who have artifacts that may count soon.
    func membersOfUnfinishedActs() throws(StoreError) -> [Int64] {
        try session.rows("SELECT DISTINCT customer FROM unfinished_acts").map { row throws(StoreError) in
            try row.integer(0)
        }
    }

    func hasLeftovers() throws(StoreError) -> Bool { try leftover() != nil }

    /// The member and the act.
    private func leftover() throws(StoreError) -> SQLRow? {
        try session.row(
            "SELECT customer, act FROM unfinished_acts WHERE started_at < $1 LIMIT 1",
            [.integer(now.addingTimeInterval(-Self.longestAct).millisecondsSince1970)])
    }

    /// Removes some of what an act left that won't be finished, or of whom an act erased.
    func removeLeftover() throws(StoreError) {
        guard let row = try leftover() else { return }
        let (owner, act) = (try row.integer(0), try row.integer(1))
        // Locked, so that no piece of it is written meanwhile.
        _ = try member(.number(owner))
        guard act != Self.erasing else { return try removeSome(ofHidden: owner) }
        let count = try session.execute(
            "DELETE FROM artifacts WHERE id IN (SELECT id FROM artifacts WHERE act = $1 LIMIT \(Self.removedPerPiece))",
            [.integer(act)])
        guard count == 0 else { return }
        try session.execute(
            "DELETE FROM unfinished_acts WHERE customer = $1 AND act = $2", [.integer(owner), .integer(act)])
    }
}
