/// Marks promises (`StoredPromise`) before the publication that ends them, so that the transaction that publishes is
/// short.
///
/// A marked promise has the publication's *mark*, a random number, in the column `ending`.
extension DatabaseTransaction {
    /// The name of the row in the table `progress` with the mark of the publication that marks promises now. If another
    /// publication replaces the mark, the first publication is refused.
    private static let markName = "publicationMark"

    /// Begins to mark promises for a publication. Throws `busy` while an earlier publication is unfinished.
    func beginMarking(_ mark: Int64) throws(StoreError) {
        guard try unfinishedPublication() == nil else { throw .busy }
        try setStoredValue(named: Self.markName, to: String(mark))
    }

    /// Marks the promises of these customers that a publication ends, and removes the publication's mark from their
    /// other promises. Throws `busy` if another publication has begun to mark promises.
    func markPromises(of customers: [Int64], by evaluation: PublicationEvaluation) throws(StoreError) {
        guard try storedValue(named: Self.markName) == String(evaluation.mark) else { throw .busy }
        let mark = SQLValue.integer(evaluation.mark)
        try execute(
            "UPDATE promises SET ending = NULL WHERE ending = \(evaluation.mark) AND customer IN \(Self.batch)",
            about: customers)
        for id in customers {
            guard let ending = evaluation.impacts[id]?.ending, !ending.isEmpty else { continue }
            for member in try group(of: id) {
                for entitlement in ending.sorted() {
                    try session.execute(
                        "UPDATE promises SET ending = $1 WHERE customer = $2 AND entitlement = $3 AND ended_by IS NULL",
                        [mark, .integer(member), .text(entitlement)])
                }
            }
        }
    }

    /// Locks customers, so that no other transaction changes their promises first.
    func lock(_ customers: [Int64]) throws(StoreError) {
        _ = try rows(
            "SELECT id FROM customers WHERE id IN \(Self.batch) ORDER BY id\(session.dialect.forUpdate)",
            about: customers)
    }

    /// Ends marking, in the transaction that publishes. If a publication is refused, its marks stay until another
    /// publication begins to mark promises; then `removeOldMarks` removes them.
    func endMarking() throws(StoreError) { try setStoredValue(named: Self.markName, to: nil) }

    /// Returns the row IDs of at most `limit` promises with marks of publications that didn't take effect.
    func oldMarks(limit: Int) throws(StoreError) -> [Int64] {
        try session.allowLongStatements()
        let current = try storedValue(named: Self.markName).flatMap { Int64($0) } ?? 0
        return try session.integers(
            "SELECT id FROM promises WHERE ending IS NOT NULL AND ending <> $1 AND ending <> $2 LIMIT $3",
            [.integer(current), .integer(try unfinishedPublication()?.mark ?? 0), SQLValue(limit)])
    }

    /// Removes the marks from the promises with these row IDs.
    func removeMarks(of promises: [Int64]) throws(StoreError) {
        try execute("UPDATE promises SET ending = NULL WHERE id IN \(Self.batch)", about: promises)
    }
}
