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
        let file = try compress(Corpora.joined(lines), in: folder)
        let outcome = try await Corpora.rehearse(file: file).outcome
        #expect(outcome.tally == plain.tally)
        #expect(outcome.counts == plain.counts)
        #expect(!outcome.isPartial)
    }

    @Test func `a rehearsal reads a damaged compressed file up to the damage, and is marked as partial`() async throws {
        let (lines, _) = try Corpora.lines(1100, seed: 2)
        let folder = try ScratchFolder()
        let file = try compress(Corpora.joined(lines), in: folder)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: file))
        let outcome = try await Corpora.rehearse(file: file).outcome
        #expect(outcome.isPartial)
        #expect(outcome.problem == .damagedArchive)
        #expect(outcome.counts.lines > 100 && outcome.counts.lines < 1100)
    }

    @Test func `if gzip is killed, a compressed file does not count as read to its end`() throws {
        let folder = try ScratchFolder()
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<1_000_000).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let source = try EvidenceSource(path: try compress(bytes, in: folder))
        // The pipe to this process is full, so `gzip` is still running.
        #expect(try !source.read(upTo: 100, isStopped: { false }).isEmpty)
        kill(try #require(source.child).processIdentifier, SIGKILL)
        while try !source.read(upTo: 1 << 16, isStopped: { false }).isEmpty {}
        #expect(source.close() == .gzipKilled(signal: SIGKILL))
    }

    /// `gzip` reads 256 KB at once, which may be thousands of lines.
    @Test func `a small compressed evidence file has no progress in percent, because gzip reads ahead`() throws {
        let folder = try ScratchFolder()
        let file = try compress(Array(repeating: 0x0A, count: 500_000), in: folder)
        let small = try EvidenceSource(path: file)
        #expect(try !small.read(upTo: 100, isStopped: { false }).isEmpty)
        #expect(small.size != nil && small.position == nil)
        _ = small.close()
        let plain = folder.path + "/plain.ndjson"
        try Data(repeating: 0x0A, count: 1000).write(to: URL(fileURLWithPath: plain))
        let whole = try EvidenceSource(path: plain)
        #expect(try whole.read(upTo: 100, isStopped: { false }).count == 100)
        #expect(whole.position == 100)
        // In a large file, what gzip is ahead is less than a percent.
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        try handle.truncate(atOffset: UInt64(EvidenceSource.smallestMeasured))
        try handle.close()
        let large = try EvidenceSource(path: file)
        #expect(try !large.read(upTo: 100, isStopped: { false }).isEmpty)
        #expect(large.position != nil)
        _ = large.close()
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
