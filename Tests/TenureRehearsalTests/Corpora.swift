import Foundation
import TenureAppStore
import TenureCore
import TenureMint
import TenurePolicyFile
import TenureRehearsal

/// Corpora on disk, and rehearsals of them under the example policies.
enum Corpora {
    /// Shared by all tests, because creating its keys takes a second.
    static let authority = Result { try TestAuthority() }

    static func lines(_ count: Int, seed: UInt64) throws -> (lines: [[UInt8]], truth: CorpusTruth) {
        let corpus = try Corpus(count: count, seed: seed, authority: authority.get())
        var truth = CorpusTruth()
        var bytes: [UInt8] = []
        for number in 0..<corpus.blockCount {
            let block = try corpus.block(number)
            truth.add(block.truth)
            bytes += block.bytes
        }
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map { Array($0) }
        return (lines, truth)
    }

    /// Returns the bytes of a file with these lines. In a debug build, this is much faster than `joined(separator:)`.
    static func joined(_ lines: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, line) in lines.enumerated() {
            if index > 0 { bytes.append(0x0A) }
            bytes += line
        }
        return bytes
    }

    static func example(_ name: String) throws -> Policy {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let bytes = try Data(contentsOf: root.appendingPathComponent("Examples/rehearsal/\(name)"))
        return try PolicyFile.read(bytes, named: name)
    }

    static func comparison() throws -> Comparison {
        Comparison(of: try example("policy.yaml"), against: try example("previous.yaml"), at: Corpus.instant)
    }

    static func rehearse(
        _ lines: [[UInt8]], from environments: [AppStoreEnvironment] = [.production],
        isStopped: @escaping @Sendable () -> Bool = { false }
    ) async throws -> (outcome: EvidenceRehearsal.Outcome, badLines: [BadLine]) {
        let folder = try ScratchFolder()
        let file = folder.path + "/evidence.ndjson"
        try Data(joined(lines)).write(to: URL(fileURLWithPath: file))
        return try await rehearse(file: file, from: environments, isStopped: isStopped)
    }

    static func rehearse(
        file: String, from environments: [AppStoreEnvironment] = [.production],
        isStopped: @escaping @Sendable () -> Bool = { false }
    ) async throws -> (outcome: EvidenceRehearsal.Outcome, badLines: [BadLine]) {
        var badLines: [BadLine] = []
        let outcome = try await rehearsal(from: environments).run(
            over: EvidenceSource(path: file), isStopped: isStopped, report: { badLines.append($0) })
        return (outcome, badLines)
    }

    /// Returns a rehearsal of the example policies that accepts artifacts of the corpora's authority.
    static func rehearsal(from environments: [AppStoreEnvironment] = [.production]) throws -> EvidenceRehearsal {
        let anchors = try authority.get().anchors
        return EvidenceRehearsal(
            try comparison(), app: AppIdentity(bundleID: "com.example.calculator", appAppleID: 828_838_134),
            trust: try TrustConfiguration(
                anchors: Dictionary(uniqueKeysWithValues: environments.map { ($0, anchors) })),
            now: Date(), purchasesAreComplete: true)
    }
}

/// A temporary folder that is removed after the test.
final class ScratchFolder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "tenure-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
