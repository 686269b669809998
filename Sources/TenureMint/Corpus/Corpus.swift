/// Generates a file of invented customers for a rehearsal (a dry run of a policy), with all problems that such files
/// can have, and the expected result (`CorpusTruth`).
///
/// The lines are generated in independent blocks of a thousand, so that blocks can be generated in parallel. The lines
/// depend only on the seed, except for the signatures, which have a random part.
package struct Corpus: Sendable {
    /// The date of the rehearsal. The expected results are for the policies `Examples/rehearsal/policy.yaml` and
    /// `previous.yaml` at this date.
    package static let instant = CorpusCustomer.date("2015-09-01")

    /// A thousand lines, or fewer in the last block.
    package struct Block: Sendable {
        /// The lines, each with its line break.
        package fileprivate(set) var bytes: [UInt8] = []
        /// The expected result of these lines.
        package fileprivate(set) var truth = CorpusTruth()
    }

    /// The number of lines.
    package let count: Int
    private let seed: UInt64
    private let lines: CorpusLines

    package init(count: Int, seed: UInt64, authority: TestAuthority) throws {
        self.count = count
        self.seed = seed
        lines = try CorpusLines(authority: authority, signedAt: CorpusCustomer.date("2015-08-25"))
    }

    /// The number of blocks of a thousand lines, the last of which may have fewer lines.
    package var blockCount: Int { (count + CorpusTemplate.size - 1) / CorpusTemplate.size }

    /// Generates the block with this index, from 0.
    package func block(_ block: Int) throws -> Block {
        let template = CorpusTemplate(block: block, seed: seed)
        let previous = block > 0 ? CorpusTemplate(block: block - 1, seed: seed) : nil
        let next = CorpusTemplate(block: block + 1, seed: seed)
        var result = Block()
        result.bytes.reserveCapacity(CorpusTemplate.size * 6144)
        // The first lines of the kind `duplicate`, which the second lines copy.
        var firstOfDuplicates: [Int: [UInt8]] = [:]
        for (index, slot) in template.lines.enumerated() {
            let number = block * CorpusTemplate.size + index
            guard number < count else { break }
            if slot.isSecond, let first = first(of: slot, in: template, previous: previous, block: block, at: index) {
                let customer = CorpusCustomer(kind: slot.kind, number: first, seed: seed)
                let copiedLine = slot.kind == .duplicate ? firstOfDuplicates[slot.number] : nil
                result.bytes += try copiedLine ?? lines.second(of: customer)
                result.truth.add(slot.kind, isCustomer: false, as: slot.kind)
            } else {
                // If the file doesn't have the customer's first line, the second line is like a line of any other
                // customer.
                let kind = slot.isSecond ? .earlyBuyer : Self.kind(of: slot, in: block)
                let customer = CorpusCustomer(kind: kind, number: number, seed: seed)
                let line = try lines.first(of: customer)
                if kind == .duplicate { firstOfDuplicates[slot.number] = line }
                result.bytes += line
                // Without the second line, a customer who bought the app again looks like one with only a refund.
                let isAlone = kind == .boughtAgain && !hasSecond(slot, in: next, block: block + 1)
                result.truth.add(kind, isCustomer: true, as: isAlone ? .refundedApp : kind)
            }
            result.bytes.append(0x0A)
        }
        return result
    }

    /// Returns the number of the customer's first line; nil if the first line isn't before this line. A second line is
    /// in the block after the first line's block, except for duplicates.
    private func first(
        of slot: CorpusTemplate.Slot, in template: CorpusTemplate, previous: CorpusTemplate?, block: Int, at index: Int
    ) -> Int? {
        let wanted = CorpusTemplate.Slot(kind: slot.kind, isSecond: false, number: slot.number)
        if slot.kind == .duplicate {
            // An identical line can only be copied from this block, after its first line was generated.
            return template.index(of: wanted).flatMap { $0 < index ? block * CorpusTemplate.size + $0 : nil }
        }
        return previous?.index(of: wanted).map { (block - 1) * CorpusTemplate.size + $0 }
    }

    /// Whether the customer's second line is in the file.
    private func hasSecond(_ slot: CorpusTemplate.Slot, in template: CorpusTemplate, block: Int) -> Bool {
        let wanted = CorpusTemplate.Slot(kind: slot.kind, isSecond: true, number: slot.number)
        return template.index(of: wanted).map { block * CorpusTemplate.size + $0 < count } ?? false
    }

    /// Returns the kind of a line. Large lines are used in only a few blocks.
    private static func kind(of slot: CorpusTemplate.Slot, in block: Int) -> CorpusKind {
        switch slot.kind {
        case .hugeLine: block % 1000 == 0 ? .hugeLine : .brokenJSON
        case .oversized: block % 10 == 0 ? .oversized : .badSignature
        default: slot.kind
        }
    }
}
