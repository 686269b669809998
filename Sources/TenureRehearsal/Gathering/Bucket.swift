import TenureCore
import TenureStore

/// One bucket of records: whose names lead to a stronger one move on, and the others are customers.
struct Bucket {
    private var groups: [CustomerName: CustomerGroup] = [:]
    private var targets: [CustomerName: Target] = [:]

    private enum Target {
        case one(CustomerName)
        /// It would lead to two people: then it leads nowhere.
        case several
    }

    /// What a bucket came to.
    struct Outcome: Sendable {
        var tally: Tally
        /// Records under a stronger name, each for its bucket.
        var moved: [(bucket: Int, record: [UInt8])] = []
    }

    init(_ contents: BucketContents) throws(RehearsalError) {
        var groups: [CustomerName: CustomerGroup] = [:]
        var targets: [CustomerName: Target] = [:]
        try contents.forEach { record in
            switch record.content {
            case .entry(let exportedID, let facts):
                groups[record.name, default: CustomerGroup()].add(facts, exportedID: exportedID)
            case .alias(let target):
                if case .one(let known)? = targets[record.name], known == target { return }
                targets[record.name] = targets[record.name] == nil ? .one(target) : .several
            }
        }
        self.groups = groups
        self.targets = targets
    }

    func judge(by comparison: Comparison) -> Outcome {
        var outcome = Outcome(tally: Tally(for: comparison))
        for (name, group) in groups {
            if case .one(let target)? = targets[name] {
                var record: [UInt8] = []
                SpillRecord(
                    target, .entry(exportedID: group.exportedID, facts: group.facts.encoded[...])
                ).append(to: &record)
                outcome.moved.append((SpillFolder.bucket(of: target), record))
            } else {
                let environment = AppStoreEnvironment.allCases[Int(name.realm) % AppStoreEnvironment.allCases.count]
                let evidence = group.facts.evidence(in: environment)
                comparison.count(evidence, id: name.label, exportedID: group.exportedID, in: &outcome.tally)
            }
        }
        return outcome
    }
}
