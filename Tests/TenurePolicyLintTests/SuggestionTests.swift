import Foundation
import TenureCore
import TenureJSON
import TenurePolicyFile
import Testing

@testable import TenurePolicyLint

/// The linter shows a suggestion only after it has applied and checked its edits.
@Suite struct SuggestionTests {
    /// A policy with one finding: a changeover window of a month.
    private static let policyWithWideWindow = """
        app: { bundleID: com.example.calculator, appleID: 828838134 }
        eras:
          - { name: paid, model: paid }
          - name: freemium
            model: free
            begins: { iOS: { build: "120", at: 2015-06-10T18:00:00Z } }
            changeover: { from: -24h, until: +720h }
        buildNumbers: increasing
        entitlements:
          premium:
            products: [com.example.calculator.premium]
            honors: [paid]
        """

    /// What identifies a finding before and after an edit.
    private struct Key: Hashable {
        let code: String
        let place: String

        init(_ finding: LintFinding) {
            code = finding.code
            place = finding.isMistake ? finding.message : finding.place
        }
    }

    private func findings(_ files: LintFiles, _ draft: PolicyDraft) throws -> [LintFinding] {
        Linter.findings(in: draft, releases: try files.releases, against: try files.old)
    }

    @Test(arguments: LintRule.all.map(\.code), [LintFiles.Kind.triggers, .nearMiss])
    func `a linter suggestion's edits remove its finding, and cause no new finding`(
        _ code: String, _ kind: LintFiles.Kind
    ) throws {
        let files = LintFiles(of: code, kind)
        let draft = try files.draft
        let before = try findings(files, draft)
        let severities = Dictionary(before.map { (Key($0), $0.severity) }, uniquingKeysWith: max)
        for finding in before where !finding.edits.isEmpty {
            let after = try findings(files, draft.edited(by: finding.edits))
            #expect(!after.contains { Key($0) == Key(finding) }, "\(finding) is still there")
            for other in after {
                let severity = try #require(severities[Key(other)], "\(other) is new after: \(finding.fix ?? "")")
                #expect(other.severity <= severity, "\(other) is graver after: \(finding.fix ?? "")")
            }
        }
    }

    /// A fix that doesn't work together with the others says so.
    @Test(arguments: LintRule.all.map(\.code), [LintFiles.Kind.triggers, .nearMiss])
    func `all exact fixes of a policy together remove their findings, and cause no new finding`(
        _ code: String, _ kind: LintFiles.Kind
    ) throws {
        let files = LintFiles(of: code, kind)
        let draft = try files.draft
        let before = try findings(files, draft)
        let severities = Dictionary(before.map { (Key($0), $0.severity) }, uniquingKeysWith: max)
        let fixed = before.filter { !$0.edits.isEmpty && !($0.fix?.hasSuffix(Suggestions.appliesAlone) ?? false) }
        // Two findings may have the same fix.
        let edits = fixed.flatMap(\.edits).reduce(into: [PolicyEdit]()) { if !$0.contains($1) { $0.append($1) } }
        let after = try findings(files, draft.edited(by: edits.inApplicableOrder))
        let left = Set(after.map(Key.init))
        for finding in fixed { #expect(!left.contains(Key(finding)), "\(finding) is still there") }
        for other in after {
            let severity = try #require(severities[Key(other)], "\(other) is new after: \(fixed.map(\.fix))")
            #expect(other.severity <= severity, "\(other) is graver after: \(fixed.map(\.fix))")
        }
    }

    @Test func `combined fixes remove elements of a list from the last to the first, after all other edits`() {
        let removals = (0..<3).map { PolicyEdit.remove(["entitlements", "premium", "honors", .index($0)]) }
        let write = PolicyEdit.write(.string("restarted"), at: ["buildNumbers"])
        let edits = removals + [write]
        #expect(edits.inApplicableOrder == [write, removals[2], removals[1], removals[0]])
    }

    @Test func `an exact fix that doesn't work together with the fix of a graver finding says so`() throws {
        let draft = draft(Self.policyWithWideWindow + "\ntestEnvironments: owner\n")
        let input = Linter.Input(draft: draft, releases: nil, isListMapped: false, old: nil, now: .distantFuture)
        let checked = Linter.findingsWithFixes(input)
        let wide = try #require(checked.first { $0.finding.code == "changeover-wide" })
        let owners = try #require(checked.first { $0.finding.code == "testers-are-owners" })
        let fix = try #require(owners.fixes.first { !$0.edits.isEmpty })
        let path = try #require(wide.fixes.first?.edits.first?.path)
        let other = PolicyEdit.write(.object(["until": .string("+24h")]), at: path)
        for (edits, works) in [(fix.edits, true), (fix.edits + [other], false), ([.remove(path)] + fix.edits, false)] {
            var suggestions = Suggestions(for: input, findings: checked.map(\.finding))
            #expect(suggestions.best(of: wide.fixes, for: wide.finding)?.text == wide.fixes.first?.text)
            let best = suggestions.best(of: [LintFix(text: "write", edits: edits)], for: owners.finding)
            // Without the window, there is another finding, so that fix isn't exact.
            let expected = works ? "write" : edits.first?.value == nil ? nil : "write" + Suggestions.appliesAlone
            #expect(best?.text == expected, "\(edits)")
        }
    }

    /// A fix names what to write if, and only if, its edits were tried.
    @Test(arguments: LintRule.all.map(\.code), [LintFiles.Kind.triggers, .nearMiss])
    func `a linter suggestion is shown only if its edits were tried`(_ code: String, _ kind: LintFiles.Kind) throws {
        for finding in try LintFiles(of: code, kind).findings {
            guard let fix = finding.fix else { continue }
            if finding.edits.isEmpty {
                for word in ["write `", "remove `", "keep `"] { #expect(!fix.contains(word), "\(finding)\n\(fix)") }
            }
            for edit in finding.edits {
                let text: String
                switch edit.value {
                case .string(let string)?: text = string
                case .number(let digits)?: text = digits
                default: continue
                }
                #expect(fix.contains(text), "\(fix) doesn't say \(text)")
            }
        }
    }

    /// Advice is shown if no suggestion resolves the finding. It must not look like a suggestion that was tried.
    @Test(arguments: LintRule.all.map(\.code), [LintFiles.Kind.triggers, .nearMiss])
    func `linter advice never has the form of an exact fix`(_ code: String, _ kind: LintFiles.Kind) throws {
        let files = LintFiles(of: code, kind)
        let input = Linter.Input(
            draft: try files.draft, releases: try files.releases, isListMapped: false, old: try files.old,
            now: .distantFuture)
        for advice in Linter.findingsWithFixes(input).flatMap(\.fixes) where advice.edits.isEmpty {
            for word in ["write `", "remove `", "keep `"] { #expect(!advice.text.contains(word)) }
        }
    }

    /// With `restarted`, the build that begins `freemium` on iOS would never be compared.
    @Test func `restarted build numbers are only advice if another platform's boundary needs its build`() throws {
        let findings = Linter.findings(
            in: draft(
                """
                app: { bundleID: com.example.calculator, appleID: 828838134 }
                eras:
                  - { name: paid, model: paid }
                  - name: freemium
                    model: free
                    begins:
                      iOS: { build: "90", at: 2023-01-22T18:00:00Z }
                      visionOS: { build: "60", at: 2024-03-01T18:00:00Z }
                    changeover: { from: -24h, until: +48h }
                buildNumbers: increasing
                entitlements:
                  premium:
                    products: [com.example.calculator.premium]
                    honors: [paid]
                releases:
                  - { platform: visionOS, build: "50", releasedAt: 2024-02-05 }
                  - { platform: visionOS, build: "17", releasedAt: 2024-02-25 }
                  - { platform: visionOS, build: "60", releasedAt: 2024-03-01 }
                """))
        let finding = try #require(findings.first { $0.code == "increasing-contradicted" })
        #expect(finding.edits.isEmpty)
        #expect(
            finding.fix
                == "let the date decide, by `buildNumbers: restarted` and a release list in the policy for each platform that has a boundary by build"
        )
    }

    @Test func `linter rules with a definite fix suggest edits for it`() throws {
        let suggesting = try LintRule.all.filter { rule in
            try LintFiles(of: rule.code, .triggers).findings.contains { $0.code == rule.code && !$0.edits.isEmpty }
        }.map(\.code)
        #expect(
            Set(suggesting).isSuperset(of: [
                "allow-too-short", "app-changed", "boundary-at-first-build", "boundary-on-no-release",
                "build-never-used",
                "changeover-wide", "honored-era-free", "paid-build-unhonored", "paid-era-unhonored",
                "platform-forgotten", "right-shortened", "settings-edited", "sold-across-change", "testers-are-owners",
                "trial-for-everybody", "trial-shortened", "undetermined-denies", "version-for-build",
            ]), "\(suggesting)")
    }

    private func draft(_ text: String) -> PolicyDraft { PolicyFile.draft(Array(text.utf8), named: "policy.yaml") }

    /// A changeover window from two days before the change would overlap with the window of the promotion.
    @Test func `a linter suggestion that causes another finding isn't shown`() throws {
        let findings = Linter.findings(
            in: draft(
                """
                app: { bundleID: com.example.calculator, appleID: 828838134 }
                eras:
                  - { name: paid, model: paid }
                  - name: promotion
                    model: free
                    begins: { iOS: { at: 2015-06-10T18:00:00Z } }
                    changeover: { from: -24h, until: +48h }
                  - name: freemium
                    model: free
                    begins: { iOS: { build: "120", at: 2015-06-13T06:00:00Z } }
                    changeover: { from: 0, until: +480h }
                buildNumbers: increasing
                entitlements:
                  premium:
                    products: [com.example.calculator.premium]
                    honors: [paid, promotion]
                """))
        let wide = try #require(findings.first { $0.code == "changeover-wide" })
        #expect(wide.edits.isEmpty)
        #expect(wide.fix == "make the window as long as price and build can have disagreed")
    }

    @Test func `a linter suggestion that doesn't remove its finding isn't shown`() throws {
        func allow(_ length: String) -> PolicyEdit {
            .write(.object(["allow": .string(length)]), at: ["whileUndetermined"])
        }
        func builds(_ numbers: String) -> PolicyEdit { .write(.string(numbers), at: ["buildNumbers"]) }
        let files = LintFiles(of: "build-reused", .triggers)
        let input = Linter.Input(
            draft: try files.draft.edited(by: [builds("restarted"), allow("1s")]), releases: try files.releases,
            isListMapped: false, old: nil, now: .distantFuture)
        let findings = Linter.findingsWithFixes(input).map(\.finding)
        #expect(findings.first { $0.code == "build-reused" }?.severity == .warning)
        let short = try #require(findings.first { $0.code == "allow-too-short" })
        func isShown(_ fix: LintFix) throws -> Bool {
            var suggestions = Suggestions(for: input, findings: findings)
            let best = suggestions.best(of: [fix, "ask your customers"], for: short)
            return try #require(best).edits == fix.edits
        }
        #expect(try isShown(.suggestion("write 72h", allow("72h"))))
        #expect(try !isShown(.suggestion("write 2h", allow("2h"))))
        #expect(try !isShown(.suggestion("write both", allow("72h"), builds("increasing"))))
    }

    @Test func `a linter suggestion changes only its place in the file`() throws {
        let text = Self.policyWithWideWindow
        let draft = draft(text)
        let finding = try #require(Linter.findings(in: draft).first)
        #expect(finding.fix == "write `{ from: -24h, until: +48h }`")
        let fixed = text.replacingOccurrences(of: "+720h", with: "+48h")
        #expect(draft.edited(by: finding.edits).policy == (try PolicyFile.read(fixed, named: "policy.yaml")))
    }

    @Test(arguments: [
        ("policy.yaml", "releases.csv", "releases.csv"), ("a/policy.yaml", "a/releases.csv", "releases.csv"),
        ("a/policy.yaml", "a/b/releases.csv", "b/releases.csv"),
        ("a/b/policy.yaml", "a/c/releases.csv", "../c/releases.csv"),
        ("./policy.yaml", "releases.csv", "releases.csv"), ("/a/policy.yaml", "/a/releases.csv", "releases.csv"),
        ("policy.yaml", "/a/releases.csv", "/a/releases.csv"), ("../policy.yaml", "releases.csv", nil),
        ("/a/policy.yaml", "releases.csv", nil), ("policy.yaml", "-", nil), ("-", "releases.csv", nil),
    ])
    func
        `the suggested path of a release list is relative to the policy's folder, or absolute if only the list's path is`(
            _ policy: String, _ list: String, _ path: String?
        )
    {
        #expect(RelativePath.of(list, beside: policy) == path)
    }
}
