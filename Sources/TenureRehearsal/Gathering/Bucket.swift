import TenureCore
import TenureStore

/// One bucket of an evidence file's entries. An entry is what one line proves, under a name of the line's customer (an
/// ID, such as `appTransactionId`). A bucket has all entries with the same hash of the name, grouped by name.
///
/// Kinds of names differ in reliability (`CustomerNameKind`). If a name is an alias of a more reliable name, its
/// entries move to the bucket of that name. Otherwise its entries are from all lines of one customer.
struct Bucket {
    /// The stage in which this bucket is read.
    private let stage: GatheringStage
    /// The facts of all entries with the same name.
    private var groups: [CustomerName: CustomerGroup] = [:]
    /// For each name, the more reliable names that occurred with it in one line.
    private var targets: [CustomerName: Set<CustomerName>] = [:]

    /// The counts of the bucket's customers, and the entries that move to other buckets.
    struct Outcome: Sendable {
        var tally: Tally
        /// The encoded entries that move, each with the number of its new bucket.
        var movedRecords: [(bucket: Int, record: [UInt8])] = []
        /// Pairs of Apple Accounts (`AccountJoins`) that were found to belong to one customer.
        var joinedAccounts: [(CustomerName, CustomerName)] = []
    }

    init(_ contents: BucketContents, of stage: GatheringStage) throws(RehearsalError) {
        self.stage = stage
        try contents.forEach { record in
            switch record.content {
            case .entry(let entry): groups[record.name, default: CustomerGroup()].add(entry)
            case .alias(let target): targets[record.name, default: []].insert(target)
            }
        }
    }

    /// Decides for the customers with all lines in this bucket, and returns the entries that move to another bucket.
    ///
    /// - Parameter joins: the accounts that are known to belong to one customer.
    func decide(by comparison: Comparison, joins: AccountJoins) -> Outcome {
        var outcome = Outcome(tally: Tally(for: comparison))
        for (name, group) in groups {
            // Moves the entries of this name to the bucket of another name, or of a later stage.
            func move(to target: CustomerName, at stage: GatheringStage) {
                var record: [UInt8] = []
                SpillRecord(target, .entry(group.entry)).append(to: &record)
                outcome.movedRecords.append((SpillFolder.bucket(of: target, at: stage), record))
            }
            if let target = targets[name].flatMap(joins.target) {
                // Only accounts are joined, so `name` is a download ID. `target` is the same customer's account.
                if joins.isJoined(name) { outcome.joinedAccounts.append((name, target)) }
                move(to: target, at: GatheringStage(of: target.kind))
            } else if joins.isJoined(name), stage < .accounts {
                // The account that represents the joined accounts is known only after all accounts are known.
                move(to: name, at: .accounts)
            } else if joins.isJoined(name), stage == .accounts {
                move(to: joins.root(of: name), at: .joined)
            } else {
                // No more reliable name is known, so the group has all entries of one customer.
                let environments = AppStoreEnvironment.allCases
                // The remainder is a valid index even if a damaged disk changed the number.
                let environment = environments[Int(name.environmentIndex) % environments.count]
                let evidence = group.facts.evidence(in: environment)
                comparison.count(evidence, id: name.label, exportedID: group.exportedID, in: &outcome.tally)
            }
        }
        return outcome
    }
}
