import TenureCore
import TenureStore

/// One bucket of records. Records with a name that leads to a stronger name move to another bucket. The others are
/// customers.
struct Bucket {
    private let stage: GatheringStage
    private var groups: [CustomerName: CustomerGroup] = [:]
    private var targets: [CustomerName: Set<CustomerName>] = [:]

    /// The counts of a bucket, and the records that leave it.
    struct Outcome: Sendable {
        var tally: Tally
        /// The records that belong to another bucket.
        var moved: [(bucket: Int, record: [UInt8])] = []
        /// Accounts that turned out to be one customer.
        var joined: [(CustomerName, CustomerName)] = []
    }

    init(_ contents: BucketContents, of stage: GatheringStage) throws(RehearsalError) {
        self.stage = stage
        var groups: [CustomerName: CustomerGroup] = [:]
        var targets: [CustomerName: Set<CustomerName>] = [:]
        try contents.forEach { record in
            switch record.content {
            case .entry(let entry): groups[record.name, default: CustomerGroup()].add(entry)
            case .alias(let target): targets[record.name, default: []].insert(target)
            }
        }
        self.groups = groups
        self.targets = targets
    }

    func decide(by comparison: Comparison, joins: AccountJoins) -> Outcome {
        var outcome = Outcome(tally: Tally(for: comparison))
        for (name, group) in groups {
            func move(to target: CustomerName, at stage: GatheringStage) {
                var record: [UInt8] = []
                SpillRecord(target, .entry(group.entry)).append(to: &record)
                outcome.moved.append((SpillFolder.bucket(of: target, at: stage), record))
            }
            if let target = targets[name].flatMap(joins.target) {
                if joins.joins(name) { outcome.joined.append((name, target)) }
                move(to: target, at: GatheringStage(of: target.kind))
            } else if joins.joins(name), stage < .accounts {
                // Their representative is known only when all accounts are known.
                move(to: name, at: .accounts)
            } else if joins.joins(name), stage == .accounts {
                move(to: joins.root(of: name), at: .joined)
            } else {
                let environment = AppStoreEnvironment.allCases[Int(name.realm) % AppStoreEnvironment.allCases.count]
                let evidence = group.facts.evidence(in: environment)
                comparison.count(evidence, id: name.label, exportedID: group.exportedID, in: &outcome.tally)
            }
        }
        return outcome
    }
}

/// The order in which buckets are read, so that an entry has moved to its last bucket before that bucket is read.
enum GatheringStage: Int, CaseIterable, Comparable, Sendable {
    case contents, purchases, exported, downloads, accounts
    /// Accounts that are one customer, under the account that represents them.
    case joined

    init(of kind: CustomerNameKind) {
        self =
            switch kind {
            case .content: .contents
            case .purchase: .purchases
            case .exported: .exported
            case .download: .downloads
            case .appTransaction: .accounts
            }
    }

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
