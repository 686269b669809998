import Foundation
import RepositoryFiles
import TenureCore
import TenurePolicyFile

@testable import TenurePolicyLint

/// The files of one rule: `Tests/PolicyLint/CODE/triggers` and `near-miss`. Each is a policy, and some have the list of
/// real releases and the previous policy.
struct LintFiles {
    let folder: String

    /// Whether the rule must report the policy.
    enum Kind: String, Sendable {
        case triggers, nearMiss = "near-miss"
    }

    init(of code: String, _ kind: Kind) {
        folder = "Tests/PolicyLint/\(code)/\(kind.rawValue)"
    }

    var draft: PolicyDraft {
        get throws { PolicyFile.draft(try RepositoryFile.bytes("\(folder)/policy.yaml"), named: "policy.yaml") }
    }

    var releases: [ListedRelease]? {
        get throws { try bytes("releases.csv").map { try ReleaseListFile.listed($0, named: "releases.csv") } }
    }

    /// The previous policy.
    var old: Policy? {
        get throws { try bytes("before.yaml").map { try PolicyFile.read($0, named: "before.yaml") } }
    }

    var findings: [LintFinding] {
        get throws { Linter.findings(in: try draft, releases: try releases, against: try old) }
    }

    /// The findings of one rule with their fixes, one line each.
    func text(of code: String) throws -> String {
        try findings.filter { $0.code == code }
            .map { "\($0)\n" + ($0.fix.map { "  fix: \($0)\n" } ?? "") }.joined()
    }

    var expected: String {
        get throws { String(decoding: try RepositoryFile.bytes("\(folder)/expected.txt"), as: UTF8.self) }
    }

    private func bytes(_ name: String) throws -> [UInt8]? {
        do {
            return try RepositoryFile.bytes("\(folder)/\(name)")
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        }
    }
}
