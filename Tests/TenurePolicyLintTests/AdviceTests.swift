import Foundation
import TenureCore
import TenurePolicyFile
import Testing

@testable import TenurePolicyLint

/// Advice that a developer can follow: it points at the right place, and causes no other finding.
@Suite struct AdviceTests {
    private func findings(_ edits: [(String, String)] = [], list: String? = nil) throws -> [LintFinding] {
        try findingsInSamplePolicy(edits, list: list, at: Date(timeIntervalSince1970: 1.8e9))
    }

    private func fix(_ code: String, _ edits: [(String, String)] = [], list: String? = nil) throws -> String? {
        try #require(try findings(edits, list: list).first { $0.code == code }).fix
    }

    @Test func `the advice for a platform that inherits the boundary of iOS is to add the platform`() throws {
        let list = """
            iOS,1.0,90,2014-01-05,paid
            iOS,2.0,120,2015-06-10T18:00:00Z,free
            tvOS,1.0,1900,2016-02-05,paid
            tvOS,2.0,2000,2017-06-10T18:00:00Z,free

            """
        let fix = try #require(
            try fix(
                "paid-build-unhonored", [("at: 2015", "at: 2017")],
                list: list.replacingOccurrences(of: "2015-06", with: "2017-06")))
        #expect(fix.hasPrefix("add `tvOS` under `begins` of `freemium`, with its own first release"))
    }

    @Test func `the advice to date a boundary keeps the changeover window that the policy has`() throws {
        let list = "iOS,1.0,90,2014-01-05,paid\niOS,2.0,120,2015-06-10T18:00:00Z,free\n"
        let undated = (", at: 2015-06-10T18:00:00Z", "")
        let fix = try fix("boundary-without-date", [undated], list: list)
        #expect(fix == "write `at: 2015-06-10T18:00:00Z`")
        let window = ("\n    changeover: { from: -24h, until: +48h }", "")
        #expect(
            try self.fix("boundary-without-date", [undated, window], list: list)
                == "write `at: 2015-06-10T18:00:00Z`, and `changeover: { from: -24h, until: +48h }` for `freemium`")
    }

    @Test func `a build that all releases share isn't suggested in place of a marketing version`() throws {
        let list = "iOS,1.0,1,2012-01-05,paid\niOS,1.1,1,2013-01-05,paid\niOS,2.0,1,2015-06-10T18:00:00Z,free\n"
        let found = try findings([("\"120\"", "\"2\"")], list: list)
        let version = try #require(found.first { $0.code == "version-for-build" })
        #expect(version.fix == "remove `build` and write `buildNumbers: restarted`, so that the date decides")
        #expect(
            found.first { $0.code == "increasing-contradicted" }?.message
                == "`buildNumbers: increasing` is wrong: on iOS two releases have build 1 (2012-01-05 and 2013-01-05); the build doesn't tell them apart"
        )
    }

    @Test func `a boundary isn't moved above a paid build if a later free build is lower`() throws {
        let list = """
            iOS,1.0,1,2012-01-05,paid
            iOS,1.0.1,140,2012-03-05,paid
            iOS,1.1,30,2013-01-05,paid
            iOS,2.0,120,2015-06-10T18:00:00Z,free
            iOS,2.1,20,2015-08-01,free

            """
        let fix = try #require(try fix("paid-build-unhonored", list: list))
        #expect(
            fix.hasPrefix(
                "let the dates decide, by a complete release list in the policy and `buildNumbers: restarted`"))
    }

    @Test func `today's buyers of an app that is sold again need an honor like earlier buyers`() throws {
        func codes(_ honors: String, last model: String = "paid") throws -> [String] {
            try findings([
                (
                    "buildNumbers",
                    """
                      - name: paidAgain
                        model: \(model)
                        begins: { iOS: { build: "150", at: 2016-06-10T18:00:00Z } }
                        changeover: none
                    buildNumbers
                    """
                ), ("honors: [paid]", "honors: [\(honors)]"),
            ]).map { "\($0.code) \($0.severity.rawValue) \($0.place)" }
        }
        #expect(try codes("paid") == ["paid-era-unhonored warning eras/paidAgain"])
        #expect(try codes("paid, paidAgain") == [])
        #expect(try codes("paid", last: "free") == [])
    }

    @Test func `the advice for a boundary without a build names the settings that a build needs`() throws {
        let noBuild = ("build: \"120\", ", "")
        #expect(
            try fix("boundary-without-version", [noBuild])
                == "add `build` with the build of the first release of `freemium`; if the era began without a release, add this finding to `acknowledge`"
        )
        #expect(
            try fix("boundary-without-version", [noBuild, ("buildNumbers: increasing\n", "")])
                == "add `build` with the build of the first release of `freemium`, and `buildNumbers`; if the era began without a release, add this finding to `acknowledge`"
        )
    }

    /// The old build is listed as of the instant of the change.
    @Test func `a release that came out after the change is on sale from its own start`() throws {
        let list = """
            iOS,1.0,90,2014-01-05,paid
            iOS,2.0,120,2015-06-10T18:00:00Z,free
            iOS,1.6,110,2015-09-16T10:00:00Z,
            iOS,2.1,130,2015-10-01T10:00:00Z,free

            """
        for finding in try findings(list: list) where finding.code == "sold-across-change" {
            #expect(!finding.message.contains(":59:00Z"), "\(finding.message)")
        }
    }
}
