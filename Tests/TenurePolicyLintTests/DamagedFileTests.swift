import RepositoryFiles
import TenureMint
import TenurePolicyFile
import TenurePolicyLint
import Testing

/// The reader and the linter finish for every damaged copy of a file, such as one that an editor truncated.
@Suite struct DamagedFileTests {
    @Test func `no damaged copy of a valid policy file crashes the linter or takes long`() throws {
        let sound = try RepositoryFile.bytes("Examples/calculator/policy.yaml")
        let csv = try RepositoryFile.bytes("Examples/calculator/releases.csv")
        let json = PolicyFile.compile(try PolicyFile.read(sound, named: "policy.yaml") { _ in csv })
        let policy = try PolicyFile.read(json, named: "policy.json")
        var random = SeededRandom(seed: 7)
        for original in [sound, json] {
            for _ in 0..<150 {
                var bytes = original
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    let index = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                    case 1: bytes.remove(at: index)
                    default:
                        bytes.insert(
                            Array("{}[]:,-\n &*!|>'\"#%@`?".utf8).randomElement(using: &random) ?? 0, at: index)
                    }
                }
                _ = try? PolicyFile.read(bytes, named: "-") { _ in csv }
                let draft = PolicyFile.draft(bytes, named: "-") { _ in csv }
                let findings = Linter.findings(in: draft, against: policy)
                #expect(draft.policy != nil || findings.contains { $0.isMistake })
                _ = try? ReleaseListFile.listed(bytes, named: "-")
            }
        }
    }
}
