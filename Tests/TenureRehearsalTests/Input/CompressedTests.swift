import CommandRunner
import Foundation
import Testing

@testable import TenureRehearsal

struct CompressedTests {
    /// Returns the path of a file that `gzip` compressed.
    private func compress(_ bytes: [UInt8], in folder: ScratchFolder) throws -> String {
        let file = folder.path + "/evidence.ndjson"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        let result = try Tool.run("/usr/bin/env", ["gzip", file])
        try #require(result.status == 0, "\(result.errors)")
        return file + ".gz"
    }

    @Test func `a compressed evidence file is recognized by its first bytes and gives the same report`() async throws {
        let (lines, _) = try Corpora.lines(1100, seed: 2)
        let plain = try await Corpora.rehearse(lines).outcome
        let folder = try ScratchFolder()
        let file = try compress(Array(lines.joined(separator: [0x0A])), in: folder)
        let outcome = try await Corpora.rehearse(file: file).outcome
        #expect(outcome.tally == plain.tally)
        #expect(outcome.counts == plain.counts)
        #expect(!outcome.isPartial)
    }

    @Test func `a rehearsal reads a damaged compressed file up to the damage, and is marked as partial`() async throws {
        let (lines, _) = try Corpora.lines(1100, seed: 2)
        let folder = try ScratchFolder()
        let file = try compress(Array(lines.joined(separator: [0x0A])), in: folder)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: file))
        let outcome = try await Corpora.rehearse(file: file).outcome
        #expect(outcome.isPartial)
        #expect(outcome.problem == .damagedArchive)
        #expect(outcome.counts.lines > 100 && outcome.counts.lines < 1100)
    }

    @Test func `a missing evidence file, or a folder in its place, is an error with the path`() throws {
        let folder = NSTemporaryDirectory()
        #expect(throws: RehearsalError.folder(folder)) { _ = try EvidenceSource(path: folder) }
        #expect(throws: RehearsalError.unreadable("/nowhere/evidence")) {
            try EvidenceSource(path: "/nowhere/evidence")
        }
        #expect(throws: RehearsalError.self) { try EvidenceSource(path: NSTemporaryDirectory()) }
    }
}
