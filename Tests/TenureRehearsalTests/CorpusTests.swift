import Foundation
import TenureCore
import TenureMint
import Testing

@testable import TenureRehearsal

struct CorpusTests {
    private func expect(_ outcome: EvidenceRehearsal.Outcome, toBe truth: CorpusTruth) {
        let (counts, tally) = (outcome.counts, outcome.tally)
        #expect(counts.lines == truth.lines)
        #expect(counts.blankLines == truth.blankLines)
        #expect(counts.usableLines == truth.usableLines)
        #expect(counts.rejectedLines == truth.rejectedLines)
        #expect(counts.rejectedArtifacts == truth.rejectedArtifacts)
        #expect(tally.customers == truth.customers)
        #expect(tally.losing == truth.losing)
        #expect(tally.gaining == truth.gaining)
        for (name, expected) in [("everything", truth.everything), ("cloud", truth.cloud)] {
            guard let index = tally.entitlements.firstIndex(of: name) else {
                Issue.record("\(name) was not counted")
                continue
            }
            let found = tally.byEntitlement[index]
            for outcome in Decision.Outcome.allCases {
                #expect(found.counts[outcome] == expected.outcomes[outcome.rawValue, default: 0], "\(name) \(outcome)")
            }
            for change in Change.allCases {
                #expect(found.counts[change] == expected.changes[change.rawValue, default: 0], "\(name) \(change)")
            }
            let reasons = found.reasons.map { ("\($0.key.outcome.rawValue) \($0.key.reason.name)", $0.value) }
            #expect(Dictionary(uniqueKeysWithValues: reasons) == expected.reasons)
        }
    }

    @Test(arguments: [1, 77] as [UInt64])
    func `a rehearsal of generated evidence counts exactly the expected customers`(seed: UInt64) async throws {
        // Ends in the middle of a block, so that some customers never get their second line.
        let (lines, truth) = try Corpora.lines(3456, seed: seed)
        #expect(lines.count == 3456)
        #expect(truth.kinds.count > 60)
        let (outcome, badLines) = try await Corpora.rehearse(lines)
        expect(outcome, toBe: truth)
        #expect(badLines.count { $0.isWholeLine } == truth.rejectedLines.values.reduce(0, +))
        #expect(!outcome.isPartial)
    }

    @Test func `the same evidence lines in any order give the same rehearsal report`() async throws {
        let (lines, _) = try Corpora.lines(2500, seed: 5)
        var random = SeededRandom(seed: 11)
        let first = try await Corpora.rehearse(lines).outcome
        for _ in 0..<2 {
            let shuffled = try await Corpora.rehearse(lines.shuffled(using: &random)).outcome
            #expect(shuffled.tally == first.tally)
            #expect(shuffled.counts == first.counts)
        }
        let reversed = try await Corpora.rehearse(lines.reversed()).outcome
        #expect(try json(reversed) == json(first))
    }

    private func json(_ outcome: EvidenceRehearsal.Outcome) throws -> [UInt8] {
        RehearsalReport(
            policyName: "new", oldPolicyName: "old", comparison: try Corpora.comparison(),
            input: .evidence(name: "lines", counts: outcome.counts, badLines: nil, anonymousIDs: outcome.anonymousIDs),
            tally: outcome.tally
        ).json()
    }

    @Test func `two generated corpora with the same size and seed have the same expected counts`() throws {
        let one = try Corpora.lines(1500, seed: 9).truth
        #expect(try Corpora.lines(1500, seed: 9).truth == one)
        #expect(try Corpora.lines(1500, seed: 10).truth != one)
    }

    @Test func `each block of a generated corpus has its own order of lines, which depends on the seed`() throws {
        /// The places of the blank lines in each block of a thousand lines.
        func blankLines(_ seed: UInt64) throws -> [[Int]] {
            let lines = try Corpora.lines(2000, seed: seed).lines
            let blank = lines.map { line in line.allSatisfy { " \t\r".utf8.contains($0) } }
            return [0, 1000].map { start in (0..<1000).filter { blank[start + $0] } }
        }
        let (one, other) = (try blankLines(1), try blankLines(2))
        #expect(one.map(\.count) == [3, 3] && other.map(\.count) == [3, 3])
        #expect(Set(one + other).count == 4, "\(one), then \(other)")
    }

    @Test func `rejected evidence lines are reported with their numbers, in the order of the file`() async throws {
        let (lines, _) = try Corpora.lines(1200, seed: 3)
        let (_, badLines) = try await Corpora.rehearse(lines)
        #expect(badLines.map(\.line) == badLines.map(\.line).sorted())
        for badLine in badLines where badLine.fault.code == .nothingSigned {
            #expect(String(decoding: lines[badLine.line - 1], as: UTF8.self).contains("\"transactions\":[]"))
        }
        let broken = badLines.first { $0.fault.code == .invalidJSON }
        #expect(broken.map { lines[$0.line - 1].first == UInt8(ascii: "{") } == true)
    }

    @Test func `a stopped rehearsal counts exactly the lines that it has read, and is marked as partial`() async throws
    {
        let (lines, _) = try Corpora.lines(1000, seed: 3)
        let none = try await Corpora.rehearse(lines, isStopped: { true }).outcome
        #expect(none.isPartial && none.counts.lines == 0 && none.tally.customers == 0)
        let reads = Locked(0)
        let stopped = try await Corpora.rehearse(
            lines,
            isStopped: {
                reads.withLock { count in
                    count += 1
                    return count > 12
                }
            }
        ).outcome
        #expect(stopped.isPartial && stopped.tally.customers > 0)
        #expect(stopped.counts.lines > 0 && stopped.counts.lines < lines.count)
        let first = try await Corpora.rehearse(Array(lines.prefix(stopped.counts.lines))).outcome
        #expect(stopped.tally == first.tally && stopped.counts == first.counts && !first.isPartial)
    }
}
