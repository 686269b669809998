import Foundation
import RepositoryFiles
import TenureCore
import TenurePolicyFile
import Testing

@testable import TenurePolicyLint

/// Each rule has an example that it must report, and a similar valid example that it must not report.
@Suite struct LintRuleTests {
    @Test(arguments: LintRule.all.map(\.code))
    func `each linter rule reports its example policy with the expected message and fix`(_ code: String) throws {
        let files = LintFiles(of: code, .triggers)
        let text = try files.text(of: code)
        if let folder = ProcessInfo.processInfo.environment["TENURE_RECORD_LINT"] {
            try text.write(toFile: "\(folder)/\(code).txt", atomically: true, encoding: .utf8)
        }
        #expect(text == (try files.expected))
        #expect(!text.isEmpty)
    }

    @Test(arguments: LintRule.all.map(\.code))
    func `no linter rule reports its counterexample, which is a valid policy`(_ code: String) throws {
        let files = LintFiles(of: code, .nearMiss)
        #expect(try files.draft.policy != nil)
        #expect(try files.text(of: code) == "")
    }

    @Test(arguments: LintRule.all.map(\.code))
    func `every finding has a fix, and a severity up to the severity of its linter rule`(_ code: String) throws {
        for finding in try LintFiles(of: code, .triggers).findings {
            let rule = try #require(LintRule.named(finding.code), "\(finding.code)")
            #expect(finding.severity <= rule.severity, "\(finding)")
            #expect(finding.isMistake || finding.fix?.isEmpty == false, "\(finding)")
            #expect(finding.position.line > 0 && finding.position.column > 0)
        }
    }

    @Test func `codes of linter rules are unique lower-case words with hyphens`() {
        let codes = LintRule.all.map(\.code)
        #expect(Set(codes).count == codes.count)
        #expect(codes.allSatisfy { $0.allSatisfy { $0.isLowercase || $0 == "-" } })
    }

    @Test func `every folder in Tests/PolicyLint belongs to a linter rule`() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: RepositoryFile.path("Tests/PolicyLint"))
        #expect(Set(folders) == Set(LintRule.all.map(\.code)))
    }

    /// `| code | severity | what | why | fix |`, in the order of the list of rules.
    @Test func `the table in policy-check.md equals the list of linter rules`() throws {
        let text = String(decoding: try RepositoryFile.bytes("Docs/policy-check.md"), as: UTF8.self)
        let rules = try #require(text.components(separatedBy: "\n## The rules\n").last)
        let rows = rules.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let expected = LintRule.all.map { rule in
            "| `\(rule.code)` | \(rule.severity.rawValue) | \(rule.title) | \(rule.rationale) | \(rule.fix) |"
        }
        if let folder = ProcessInfo.processInfo.environment["TENURE_RECORD_LINT"] {
            try expected.joined(separator: "\n").write(
                toFile: "\(folder)/rules.md", atomically: true, encoding: .utf8)
        }
        #expect(rows.map(String.init) == expected)
    }
}
