import TenureCore
import TenureStore

/// One bucket of an evidence file's entries. An entry is what one line proves, under a name of the line's customer (an
/// ID, such as `appTransactionId`). A bucket has all entries with the same hash of the name, grouped by name.
///
/// Kinds of names differ in reliability (`CustomerNameKind`). If a name is an alias of a more reliable name, its
/// entries move to the bucket of that name. Otherwise its entries are all lines of one customer.
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
        /// Pairs of Apple Accounts that were found to belong to one customer.
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
                if joins.isJoined(name) { outcome.joinedAccounts.append((name, target)) }
                move(to: target, at: GatheringStage(of: target.kind))
            } else if joins.isJoined(name), stage < .accounts {
                // The account that represents the joined accounts is known only after all accounts are known.
                move(to: name, at: .accounts)
            } else if joins.isJoined(name), stage == .accounts {
                move(to: joins.root(of: name), at: .joined)
            } else {
                // No more reliable name is known, so these are all lines of a customer.
                // The remainder is a valid index even if a damaged disk changed the number.
                let environment = AppStoreEnvironment.allCases[
                    Int(name.environmentIndex) % AppStoreEnvironment.allCases.count]
                let evidence = group.facts.evidence(in: environment)
                comparison.count(evidence, id: name.label, exportedID: group.exportedID, in: &outcome.tally)
            }
        }
        return outcome
    }
}

/// The stages in which buckets are read. Each stage has the buckets for one kind of name, from the least to the most
/// reliable kind. Because of this order, each entry has moved to its last bucket before that bucket is read.
enum GatheringStage: Int, CaseIterable, Comparable, Sendable {
    case contents, purchases, exported, downloads, accounts
    /// Joined accounts, under the name of the account that represents them.
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

/// The facts from all lines of the evidence file that belong to one customer. The facts stay encoded to save time,
/// because most customers have only one line.
struct CustomerGroup {
    /// The smallest `id` in the customer's lines; nil if no line has an `id`.
    private(set) var exportedID: String?
    /// The encoded facts: one element for each line, or for several lines that were joined.
    private var parts: [[UInt8]] = []
    /// The number of elements of `parts` at which all are decoded and joined into one.
    private var joinAt = 32

    /// Adds the facts of one of the customer's lines.
    mutating func add(_ entry: SpillRecord.Entry) {
        if let id = entry.exportedID { exportedID = min(id, exportedID ?? id) }
        // Skip a line with the same facts as the line before.
        guard parts.last.map({ $0.elementsEqual(entry.facts) }) != true else { return }
        parts.append(Array(entry.facts))
        guard parts.count >= joinAt else { return }
        let joined = self.facts
        parts = [joined.encoded]
        // Join larger groups less often, so that the time grows only linearly with the number of lines.
        joinAt = 32 + joined.purchases.count + joined.proofs.count
    }

    /// The whole group as one entry.
    var entry: SpillRecord.Entry { SpillRecord.Entry(exportedID: exportedID, nextName: nil, facts: facts.encoded[...]) }

    /// The facts of all lines together.
    var facts: CustomerFacts {
        var decodedParts = parts.compactMap { try? CustomerFacts(decoding: $0) }
        guard decodedParts.count != 1 else { return decodedParts.removeLast() }
        var joined = CustomerFacts()
        joined.add(decodedParts.flatMap(\.proofs))
        joined.add(decodedParts.flatMap(\.purchases))
        joined.add(decodedParts.flatMap(\.renewals))
        // If one line has all purchases of the customer, the purchases of all lines together are complete.
        joined.purchasesAreComplete = decodedParts.contains(where: \.purchasesAreComplete)
        return joined
    }
}
