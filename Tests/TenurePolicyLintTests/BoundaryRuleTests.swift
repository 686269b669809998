import Foundation
import Testing

@testable import TenurePolicyLint

/// What the rules about a boundary's build or version say if the policy's own release list decides, or if no date
/// helps, and which release they suggest.
@Suite struct BoundaryRuleTests {
    private typealias Edits = [(String, String)]

    private func findings(_ edits: Edits, list: String? = nil) throws -> [LintFinding] {
        try findingsInSamplePolicy(edits, list: list, at: Date(timeIntervalSince1970: 1.8e9))
    }

    /// Returns the only finding of the rule.
    private func finding(_ code: String, _ edits: Edits, list: String? = nil) throws -> LintFinding {
        let found = try findings(edits, list: list).filter { $0.code == code }
        try #require(found.count == 1, "\(found)")
        return found[0]
    }

    private func beginning(with build: String) -> Edits { [("\"120\"", "\"\(build)\"")] }

    private static let undated = [
        (", at: 2015-06-10T18:00:00Z", ""), ("    changeover: { from: -24h, until: +48h }\n", ""),
    ]
    private static let restarted = [("increasing", "restarted")]
    /// The policy has its own release list, in which every release has build 1.
    private static let own = [
        (
            "buildNumbers: increasing",
            """
            releases:
              - { platform: iOS, version: "1.0", build: "1", releasedAt: 2013-01-01, model: paid }
              - { platform: iOS, version: "1.1", build: "1", releasedAt: 2014-01-01, model: paid }
              - { platform: iOS, version: "2.0", build: "1", releasedAt: 2015-06-10T18:00:00Z, model: free }
            buildNumbers: restarted
            """
        )
    ]

    // MARK: The policy's own release list decides

    @Test func `a dated boundary at build 1 gets no finding if the policy's own release list decides`() throws {
        let found = try findings(beginning(with: "1") + Self.own)
        #expect(!found.contains { $0.code == "boundary-at-first-build" }, "\(found)")
    }

    @Test func `an undated boundary at build 1 is an error only if it is the first release of the policy's list`()
        throws
    {
        let edits = beginning(with: "1") + Self.undated + Self.own
        let found = try finding("boundary-at-first-build", edits)
        #expect(found.severity == .error)
        #expect(
            found.message
                == "the policy's release list has no release before build 1, with which `freemium` begins: no listed release counts as `paid`, and owners with a listed build lose `premium`"
        )
        // The paid releases had a higher build, before build numbers restarted.
        let higher = [2013, 2014].map { year in
            ("build: \"1\", releasedAt: \(year)", "build: \"37\", releasedAt: \(year)")
        }
        #expect(try !findings(edits + higher).contains { $0.code == "boundary-at-first-build" })
    }

    @Test func `a marketing version for a build has no effect if the policy's own list and an instant decide`() throws {
        let marketing = beginning(with: "2")
        let found = try finding("version-for-build", marketing + Self.own)
        #expect(found.severity == .warning)
        #expect(
            found.message
                == "`2` is a marketing version: the release list has it with build 1. On iOS the App Store reports builds, so `2` has no effect, because the policy's release list and `at` decide"
        )
        #expect(found.fix == "remove `build`, so that the release list and the date decide")
        let undated = try finding("version-for-build", marketing + Self.undated + Self.own)
        #expect(undated.severity == .error)
        #expect(undated.message.hasSuffix("so nothing separates `paid` from `freemium`"))
    }

    @Test func `a build for a version has no effect on macOS if the policy's own list and an instant decide`() throws {
        let mac = [
            ("iOS: { build: \"120\"", "macOS: { version: \"60\""),
            (
                "buildNumbers: increasing",
                """
                releases:
                  - { platform: macOS, version: "1.9", build: "44", releasedAt: 2014-02-01, model: paid }
                  - { platform: macOS, version: "2.0", build: "60", releasedAt: 2015-06-10T18:00:00Z, model: free }
                """
            ),
        ]
        let found = try finding("build-for-version", mac)
        #expect(found.severity == .warning)
        #expect(found.message.hasSuffix("so `60` has no effect, because the policy's release list and `at` decide"))
    }

    @Test func `a dated boundary that the policy's own list lacks is reported as without effect`() throws {
        let found = try finding("boundary-on-no-release", beginning(with: "100") + Self.own)
        #expect(found.severity == .warning)
        #expect(
            found.message.hasSuffix(
                "(below it 1, above it none): while the policy's release list lacks it, this build has no effect, because the list and `at` decide"
            ))
    }

    @Test(arguments: ["1", "2.0"])
    func `a low or dotted build is reported only as unused if build numbers restarted`(_ build: String) throws {
        #expect(try findings(beginning(with: build) + Self.restarted).map(\.code) == ["build-never-used"])
    }

    // MARK: Without an instant

    @Test func `a finding says that a date helps owners only if the boundary has an instant`() throws {
        let version = try finding("version-for-build", beginning(with: "2.0"))
        #expect(version.message.hasSuffix("and lose `premium` unless their date proves otherwise"))
        let undatedVersion = try finding("version-for-build", beginning(with: "2.0") + Self.undated)
        #expect(
            undatedVersion.message.hasSuffix(
                "customers who paid with a build above `2.0` count as `freemium` and lose `premium`"))
        let first = try finding("boundary-at-first-build", beginning(with: "1") + Self.undated)
        #expect(
            first.message == "no build is below 1: every customer counts as `freemium`, and owners lose `premium`")
        let list = "iOS,1.0,37,2013-01-01,\niOS,1.9,104,2015-01-01,\niOS,2.0,100,2015-06-10,\n"
        let beyond = try finding("paid-build-beyond-boundary", beginning(with: "100") + Self.undated, list: list)
        #expect(beyond.message.hasSuffix("customers who bought it lose `premium`"))
    }

    // MARK: Builds with a date

    @Test func `a build that begins with a calendar date isn't taken for a marketing version`() throws {
        for build in ["20150610.1", "20991231.12.3", "2015061001.2"] {
            #expect(try findings(beginning(with: build)) == [], "\(build)")
        }
        for build in ["20151310.1", "20070610.1", "201506.1"] {
            #expect(try finding("version-for-build", beginning(with: build)).severity == .warning, "\(build)")
        }
    }

    // MARK: The suggested release

    @Test(arguments: ["2015-06-10T18:00:00Z", "2015-06-10"])
    func `a boundary on no release gets the first release at or after its instant as the fix`(_ date: String) throws {
        let early = "iOS,1.0,37,2013-01-01,\niOS,1.9,104,2015-01-01,\niOS,1.91,119,2015-05-01,\n"
        let found = try finding(
            "boundary-on-no-release", beginning(with: "100"), list: early + "iOS,2.0,120,\(date),\n")
        #expect(found.message.hasSuffix("(below it 37, above it 104)"))
        #expect(found.fix?.hasPrefix("write `build: \"120\"`, or add the missing release") == true)
        // All listed releases came out before the instant.
        let unlisted = try finding("boundary-on-no-release", beginning(with: "100"), list: early)
        #expect(unlisted.fix == "add the release to the release list, with its real build")
    }
}
