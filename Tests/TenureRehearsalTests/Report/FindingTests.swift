import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile
import TenurePolicyLint
import Testing

@testable import TenureRehearsal

/// How a report shows the findings of the linter, by their severity.
struct FindingTests {
    /// Sold until June 2015, and free since.
    private static func policy(
        build: String = "120", honors: [Honor]? = [Honor(era: "paid")], acknowledging findings: [LintFinding] = []
    ) throws -> Policy {
        try Policy(
            app: .init(bundleID: "com.example.calculator", appleID: 828_838_134),
            eras: [
                Era(name: "paid", model: .paid),
                Era(
                    name: "free", model: .free,
                    begins: [.iOS: .at(version: AppVersion(build), date: Population.date("2015-06-10"))],
                    changeover: .window(from: -86_400, until: 2 * 86_400)),
            ],
            buildNumbers: .increasing,
            entitlements: [
                Entitlement(
                    name: "everything", products: [.init(id: "com.example.calculator.everything")], honors: honors)
            ],
            acknowledgments: findings.map { Acknowledgment(code: $0.code, at: $0.place, reason: "intended") })
    }

    private func report(of policy: Policy, _ findings: [LintFinding]) -> RehearsalReport {
        let comparison = Comparison(of: policy, at: Population.now)
        return RehearsalReport(
            policyName: "new.yaml", oldPolicyName: nil, comparison: comparison,
            input: .database(name: "database", skipped: 0), tally: Tally(for: comparison), findings: findings)
    }

    private static let mistake = LintFinding(
        PolicyFileMistake("wrong 1", at: SourcePosition(file: "a/policy.yaml", line: 4, column: 3)))

    @Test func `a finding has its severity and position in the terminal report and in the JSON report`() throws {
        let report = report(of: try Self.policy(), [Self.mistake])
        let lines = TextReport(report).lines
        #expect(lines.contains(.heading("policy check")))
        #expect(lines.contains(.bad("  a/policy.yaml:4:3: error: wrong 1 [mistake]")))
        let finding =
            #"{"code":"mistake","severity":"error","file":"a/policy.yaml","line":4,"column":3,"message":"wrong 1"}"#
        let json = String(decoding: report.json(.compact), as: UTF8.self)
        #expect(json.hasSuffix(#""findings":[\#(finding)]}"#))
        let without = TextReport(self.report(of: try Self.policy(), [])).lines
        #expect(!without.contains(.heading("policy check")))
    }

    @Test func `a rehearsal page shows errors before warnings, and the terminal marks only errors`() throws {
        // The build looks like a major version.
        let policy = try Self.policy(build: "3")
        let warnings = Linter.findings(in: policy, at: Population.now).unacknowledged(.warning)
        let warning = try #require(warnings.first)
        let report = report(of: policy, [warning, Self.mistake])
        let page = String(decoding: HTMLReport.bytes(of: report), as: UTF8.self)
        let severities = page.components(separatedBy: "<b class=\"severity ").dropFirst().compactMap {
            $0.components(separatedBy: "\"").first
        }
        #expect(severities == ["error", "warning"])
        let findings = TextReport(report).lines.drop { $0 != .heading("policy check") }.dropFirst().prefix(2)
        #expect(Array(findings) == [.plain("  \(warning)"), .bad("  \(Self.mistake)")])
    }

    @Test func `an acknowledged error is collapsed on a rehearsal page, and isn't marked as an error`() throws {
        let errors = Linter.findings(in: try Self.policy(honors: nil), at: Population.now).unacknowledgedErrors
        let policy = try Self.policy(honors: nil, acknowledging: errors)
        let findings = Linter.findings(in: policy, at: Population.now)
        let acknowledged = try #require(findings.first { $0.code == errors.first?.code })
        #expect(acknowledged.isAcknowledged)
        let report = report(of: policy, [acknowledged])
        let page = String(decoding: HTMLReport.bytes(of: report), as: UTF8.self)
        let collapsed = "<details><summary>1 finding</summary>\n<div class=\"finding\"><p><b class=\"severity note\">"
        #expect(page.contains(collapsed))
        #expect(TextReport(report).lines.contains(.plain("  \(acknowledged)")))
    }
}
