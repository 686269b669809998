package import Foundation
package import TenureAppStore
import TenureCore

/// Rehearses a policy (a dry run) over an evidence file: a file of signed artifacts, such as receipts, with one
/// customer or one artifact per line.
///
/// The lines of one customer may be anywhere in the file. They are recognized by the customer's names, which are IDs
/// such as `appTransactionId` (`CustomerNameKind`):
/// 1. `LineReader` verifies the lines on all cores. Each line becomes an `Entry`: what the line proves, and the names
///    of its customer.
/// 2. `SpillFolder` puts the entries into buckets by the hash of a name. If there are many, the buckets are files.
/// 3. `Bucket` groups the entries of each customer, and decides once for each customer.
///
/// The result doesn't depend on the order of the lines. The use of memory is limited: only the Apple Accounts of
/// lines with the same `id` always stay in memory.
package struct EvidenceRehearsal: Sendable {
    /// An `id` in the file that has so many Apple Accounts that it can't mean one customer. It must be a placeholder,
    /// such as `anonymous`.
    package struct AnonymousID: Sendable, Hashable {
        let id: String
        /// The number of Apple Accounts in lines with this `id`.
        let accounts: Int
    }

    private let comparison: Comparison
    private let reader: LineReader

    /// - Parameters:
    ///   - app: the app that the artifacts must be from.
    ///   - trust: the certificates that may have signed the artifacts.
    ///   - now: artifacts with a later signing date are rejected.
    ///   - purchasesAreComplete: whether a line without its own `purchasesAreComplete` has all purchases of its
    ///     customer.
    package init(
        _ comparison: Comparison, app: AppIdentity, trust: TrustConfiguration, now: Date, purchasesAreComplete: Bool
    ) {
        self.comparison = comparison
        // Don't limit the checks of unknown signers, because the report must include every line.
        let cache = ChainCache(trust: trust, budget: .init(burst: .greatestFiniteMagnitude, perSecond: 0))
        reader = LineReader(
            verifier: AppStoreVerifier(app: app, cache: cache), now: now, purchasesAreComplete: purchasesAreComplete)
    }

    /// The progress of a rehearsal.
    package struct Progress: Sendable {
        /// The number of lines that were read; for a database, the number of customers.
        package var lines = 0
        /// The completed share of the current step, from 0 to 1; nil if it is unknown.
        package var share: Double?
        /// Whether all lines are read, and customers are being decided.
        package var isDeciding = false
    }

    /// The result of a rehearsal.
    package struct Outcome: Sendable {
        /// The counts of customers.
        package let tally: Tally
        /// The counts of lines and rejected artifacts.
        package let counts: InputCounts
        /// The placeholder `id`s, which have more than ten Apple Accounts and were ignored. Sorted.
        package let anonymousIDs: [AnonymousID]
        /// Whether the rehearsal was stopped, or the input couldn't be read to its end.
        package let isPartial: Bool
        /// Why the input couldn't be read to its end; nil if it was read to its end, or if the rehearsal was stopped.
        package let problem: RehearsalError?
    }

    /// The number of bytes to read at once. The number is small, so that the bytes stay in the processor's cache until
    /// they are divided into lines.
    private static let chunkSize = 256 << 10

    /// Reads all lines, then decides for all customers.
    ///
    /// - Parameters:
    ///   - isStopped: called often. When it returns true, the rehearsal ends with the lines read so far.
    ///   - report: called with each rejected artifact and each rejected line, in the order of the file.
    package func run(
        over source: EvidenceSource, isStopped: @Sendable () -> Bool = { false },
        progress: (Progress) -> Void = { _ in }, report: (BadLine) throws -> Void = { _ in }
    ) async throws -> Outcome {
        let folder = SpillFolder()
        var counts = InputCounts()
        var latestProgress = Progress()
        var splitter = LineSplitter()
        var isAtEnd = false
        var waiting: [LineBatch] = []
        var problem: RehearsalError?

        func nextBatch() throws -> LineBatch? {
            while waiting.isEmpty, !isAtEnd {
                let chunk = try source.read(upTo: Self.chunkSize, isStopped: isStopped)
                if chunk.isEmpty {
                    isAtEnd = true
                    // If the rehearsal was stopped, the last line may be incomplete.
                    if !isStopped(), let last = splitter.end() { waiting.append(last) }
                    problem = source.close()
                } else {
                    waiting = splitter.batches(adding: chunk)
                }
            }
            return waiting.isEmpty ? nil : waiting.removeFirst()
        }

        // Called with the result of each batch, in the order of the file.
        func take(_ reading: BatchReading) throws {
            counts.add(reading.counts)
            var start = 0
            for (bucket, end) in reading.ends {
                try folder.append(reading.records[start..<end], to: bucket)
                start = end
            }
            for badLine in reading.badLines { try report(badLine) }
            latestProgress.lines = counts.lines
            if let size = source.size, let position = source.position {
                latestProgress.share = Double(position) / Double(max(1, size))
            }
            progress(latestProgress)
        }

        let reader = reader
        try await inOrder(makeNext: nextBatch, { BatchReading($0, by: reader) }, take)

        latestProgress.isDeciding = true
        let (tally, anonymousIDs) = try await decide(folder) { share in
            latestProgress.share = share
            progress(latestProgress)
        }
        return Outcome(
            tally: tally, counts: counts, anonymousIDs: anonymousIDs, isPartial: isStopped() || problem != nil,
            problem: problem)
    }

    /// Decides for the customers in all buckets. A stage (`GatheringStage`) has the buckets for one kind of name.
    private func decide(
        _ folder: SpillFolder, progress: (Double) -> Void
    ) async throws -> (tally: Tally, anonymousIDs: [AnonymousID]) {
        var tally = Tally(for: comparison)
        let comparison = comparison
        var joins = try Self.joins(in: folder)
        try Self.moveEntriesOfPlaceholders(joins.accountsByPlaceholder, in: folder)
        let stages = GatheringStage.allCases
        for (number, stage) in stages.enumerated() {
            // The buckets of less reliable names come first, because their entries may move to the buckets of more
            // reliable names.
            var bucketsLeft = SpillFolder.buckets(of: stage)
            let joinsSoFar = joins
            func next() -> BucketContents? {
                while let bucket = bucketsLeft.popFirst() {
                    if let contents = folder.removeRecords(of: bucket) { return contents }
                }
                return nil
            }
            try await inOrder(
                makeNext: next,
                { contents in
                    Result { () throws(RehearsalError) in
                        try Bucket(contents, of: stage).decide(by: comparison, joins: joinsSoFar)
                    }
                }
            ) { result in
                let outcome = try result.get()
                tally.add(outcome.tally)
                for (one, other) in outcome.joinedAccounts { joins.join(one, other) }
                for (bucket, record) in outcome.movedRecords { try folder.append(record[...], to: bucket) }
                let done = 1 - Double(bucketsLeft.count) / Double(SpillFolder.bucketCount)
                progress((Double(number) + done) / Double(stages.count))
            }
        }
        let anonymousIDs = joins.accountsByPlaceholder.map { AnonymousID(id: $0.key.text, accounts: $0.value) }
        return (tally, anonymousIDs.sorted { $0.id < $1.id })
    }

    /// Finds the Apple Accounts that have the same `id` in the file, and so belong to one customer.
    private static func joins(in folder: SpillFolder) throws(RehearsalError) -> AccountJoins {
        var joins = AccountJoins()
        for bucket in SpillFolder.buckets(of: .exported) {
            guard let contents = folder.peek(bucket) else { continue }
            var accounts: [CustomerName: Set<CustomerName>] = [:]
            try contents.forEach { record in
                if case .alias(let account) = record.content { accounts[record.name, default: []].insert(account) }
            }
            for (id, accounts) in accounts { joins.add(accounts, of: id) }
        }
        return joins
    }

    /// Moves the entries of lines with a placeholder `id` to the next name of their customer, so that the `id` is
    /// ignored. Puts all other records back.
    private static func moveEntriesOfPlaceholders(
        _ placeholders: [CustomerName: Int], in folder: SpillFolder
    ) throws(RehearsalError) {
        for bucket in Set(placeholders.keys.map { SpillFolder.bucket(of: $0, at: .exported) }) {
            guard let contents = folder.removeRecords(of: bucket) else { continue }
            var records: [(bucket: Int, record: [UInt8])] = []
            try contents.forEach { record in
                var record = record
                if placeholders[record.name] != nil {
                    // Drop the aliases (`SpillRecord`) of a placeholder.
                    guard case .entry(let entry) = record.content, let nextName = entry.nextName else { return }
                    let movedEntry = SpillRecord.Entry(exportedID: entry.exportedID, nextName: nil, facts: entry.facts)
                    record = SpillRecord(nextName, .entry(movedEntry))
                }
                var bytes: [UInt8] = []
                record.append(to: &bytes)
                let stage = GatheringStage(of: record.name.kind)
                records.append((SpillFolder.bucket(of: record.name, at: stage), bytes))
            }
            for (bucket, record) in records { try folder.append(record[...], to: bucket) }
        }
    }
}
