import Foundation
import TenureCore
import TenurePolicyFile
import Testing

@testable import TenurePolicyLint

/// Thirty mistakes that other developers made when they changed an app's business model. Each is reported, refused or
/// impossible.
@Suite struct FieldCaseTests {
    @Test func `the linter's test data has thirty real developers' mistakes`() {
        #expect(FieldCase.all.map(\.number) == Array(1...30))
    }

    @Test(arguments: FieldCase.all)
    func `each real developer's mistake is reported by the linter, can't be written or has no effect`(
        _ story: FieldCase
    ) throws {
        let draft = PolicyFile.draft(Array(story.policy.utf8), named: "policy.yaml")
        let findings = Linter.findings(
            in: draft,
            releases: try story.releases.map { try ReleaseListFile.listed(Array($0.utf8), named: "releases.csv") },
            against: try story.before.map { try PolicyFile.read($0, named: "before.yaml") },
            at: Date(timeIntervalSince1970: 1.8e9))
        switch story.prevention {
        case .reported(let code, let severity):
            let found = try #require(findings.first { $0.code == code }, "\(story.number): \(findings)")
            #expect(found.severity >= severity.severity, "\(found)")
            #expect(found.fix != nil || found.isMistake)
            // This is the file's only mistake.
            #expect(findings.allSatisfy { !$0.isMistake || $0.code == code }, "\(findings)")
        case .refused(let message):
            let mistakes = findings.filter(\.isMistake)
            #expect(mistakes.count == 1 && mistakes[0].description.contains(message), "\(findings)")
        case .decided(let customer, let outcome):
            let policy = try #require(draft.policy, "\(findings)")
            let decision = try #require(
                decide(customer.evidence, under: policy, at: Date(timeIntervalSince1970: 1.8e9)).first)
            #expect(decision.outcome == outcome)
            #expect(findings.unacknowledged(.warning).isEmpty, "\(findings)")
        }
    }
}

extension FieldCase.LintSeverity {
    fileprivate var severity: LintFinding.Severity {
        switch self {
        case .error: .error
        case .warning: .warning
        case .note: .note
        }
    }
}

extension FieldCase.Customer {
    fileprivate var evidence: Evidence {
        guard !isUnknown else { return Evidence(environment: .production, purchasesAreComplete: true) }
        func date(_ day: String?) -> Date? { day.flatMap { CivilDay($0)?.midnight } }
        let proof = AppProof(
            kind: .appTransaction, signedDate: Date(timeIntervalSince1970: 1.7e9), originalPlatform: platform,
            originalAppVersion: version, originalPurchaseDate: date(bought), revocationDate: date(revoked))
        return Evidence(environment: .production, app: [proof], purchasesAreComplete: true)
    }
}
