package import Foundation
import TenureAppStore
import TenureCore

/// A population of any size, as a listening release of an app would have collected it, with all problems of such a file
/// and the truth about it.
/// The lines are made in independent blocks of a thousand, so that blocks can be made in parallel and released at once.
/// The lines follow from the seed; signatures differ from run to run, because each has a random number in it.
package struct Corpus: Sendable {
    /// `truth` counts under the policies `Examples/rehearsal/policy.yaml` and `previous.yaml`.
    package static let instant = CorpusCustomer.date("2015-09-01")

    package struct Block: Sendable {
        /// Lines, each with its line break.
        package fileprivate(set) var bytes: [UInt8] = []
        package fileprivate(set) var truth = CorpusTruth()
    }

    package let count: Int
    private let seed: UInt64
    private let lines: CorpusLines

    package init(count: Int, seed: UInt64, authority: TestAuthority) throws {
        self.count = count
        self.seed = seed
        lines = try CorpusLines(authority: authority, signedAt: CorpusCustomer.date("2015-08-25"))
    }

    package var blockCount: Int { (count + CorpusTemplate.size - 1) / CorpusTemplate.size }

    package func block(_ block: Int) throws -> Block {
        let template = CorpusTemplate(block: block, seed: seed)
        let before = block > 0 ? CorpusTemplate(block: block - 1, seed: seed) : nil
        let after = CorpusTemplate(block: block + 1, seed: seed)
        var result = Block()
        result.bytes.reserveCapacity(CorpusTemplate.size * 6144)
        var twins: [Int: [UInt8]] = [:]
        for (place, slot) in template.lines.enumerated() {
            let number = block * CorpusTemplate.size + place
            guard number < count else { break }
            if slot.isSecond, let first = first(of: slot, in: template, before: before, block: block, at: place) {
                let customer = CorpusCustomer(kind: slot.kind, number: first, seed: seed)
                result.bytes +=
                    try twins[slot.number].flatMap { slot.kind == .duplicate ? $0 : nil } ?? lines.second(of: customer)
                result.truth.add(slot.kind, isCustomer: false, as: slot.kind)
            } else {
                // A second line without its first one counts as an ordinary customer.
                let kind = slot.isSecond ? .earlyBuyer : Self.kind(of: slot, in: block)
                let customer = CorpusCustomer(kind: kind, number: number, seed: seed)
                let line = try lines.first(of: customer)
                if kind == .duplicate { twins[slot.number] = line }
                result.bytes += line
                let isAlone = kind == .boughtAgain && !hasSecond(slot, in: after, block: block + 1)
                result.truth.add(kind, isCustomer: true, as: isAlone ? .refundedApp : kind)
            }
            result.bytes.append(0x0A)
        }
        return result
    }

    /// The number of the customer's first line; nil if there's none before.
    private func first(
        of slot: CorpusTemplate.Slot, in template: CorpusTemplate, before: CorpusTemplate?, block: Int, at place: Int
    ) -> Int? {
        let wanted = CorpusTemplate.Slot(kind: slot.kind, isSecond: false, number: slot.number)
        if slot.kind == .duplicate {
            // Identical bytes are available only in this block, once they are made.
            return template.place(of: wanted).flatMap { $0 < place ? block * CorpusTemplate.size + $0 : nil }
        }
        return before?.place(of: wanted).map { (block - 1) * CorpusTemplate.size + $0 }
    }

    private func hasSecond(_ slot: CorpusTemplate.Slot, in template: CorpusTemplate, block: Int) -> Bool {
        let wanted = CorpusTemplate.Slot(kind: slot.kind, isSecond: true, number: slot.number)
        return template.place(of: wanted).map { block * CorpusTemplate.size + $0 < count } ?? false
    }

    /// Large lines come rarely.
    private static func kind(of slot: CorpusTemplate.Slot, in block: Int) -> CorpusKind {
        switch slot.kind {
        case .hugeLine: block % 1000 == 0 ? .hugeLine : .brokenJSON
        case .oversized: block % 10 == 0 ? .oversized : .badSignature
        default: slot.kind
        }
    }
}
