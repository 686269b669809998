import Foundation
import TenurePolicyFile

@testable import TenurePolicyLint

/// A paid app that becomes free, on iOS only. The linter has no findings about this policy.
let samplePolicy = """
    app: { bundleID: com.example.calculator, appleID: 828838134 }
    eras:
      - { name: paid, model: paid }
      - name: freemium
        model: free
        begins:
          iOS: { build: "120", at: 2015-06-10T18:00:00Z }
        changeover: { from: -24h, until: +48h }
    buildNumbers: increasing
    entitlements:
      premium:
        products: [com.example.calculator.premium]
        honors: [paid]

    """

/// Checks the sample policy after edits, each a text and its replacement.
///
/// - Parameters:
///   - list: The rows of a release list: platform, version, build, date and model.
///   - old: The edits that make the previous policy from the sample policy.
func findingsInSamplePolicy(
    _ edits: [(String, String)] = [], list: String? = nil, against old: [(String, String)]? = nil, at now: Date
) throws -> [LintFinding] {
    func text(_ edits: [(String, String)]) -> String {
        edits.reduce(samplePolicy) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
    return Linter.findings(
        in: PolicyFile.draft(Array(text(edits).utf8), named: "policy.yaml"),
        releases: try list.map {
            try ReleaseListFile.listed(
                Array(("platform,version,build,releasedAt,model\n" + $0).utf8), named: "list.csv")
        },
        against: try old.map { try PolicyFile.read(text($0), named: "old.yaml") }, at: now)
}
