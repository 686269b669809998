import Foundation
import TenureCore
import TenurePolicyFile
import Testing

@testable import TenurePolicyLint

/// What messages claim about customers is what these customers get.
@Suite struct ClaimTests {
    /// In January 2027.
    private static let now = Date(timeIntervalSince1970: 1.8e9)

    private static let undated = [
        (", at: 2015-06-10T18:00:00Z", ""), ("    changeover: { from: -24h, until: +48h }\n", ""),
    ]

    private func finding(
        _ code: String, _ edits: [(String, String)], list: String? = nil
    ) throws -> LintFinding {
        let findings = try findingsInSamplePolicy(edits, list: list, at: Self.now)
        return try #require(findings.first { $0.code == code }, "\(findings)")
    }

    @Test func `an honor of a free era is reported with the customers who get the entitlement through it`() throws {
        func message(_ honor: String, _ edits: [(String, String)] = []) throws -> String {
            try finding("honored-era-free", [("honors: [paid]", "honors: [\(honor)]")] + edits).message
        }
        #expect(
            try message("freemium")
                == "anyone who installs the app today gets `premium` permanently for nothing: `freemium` is free and is the current era"
        )
        let planned = [("2015-06-10T18:00:00Z", "2030-06-10T18:00:00Z")]
        #expect(
            try message("freemium", planned)
                == "from 2030-06-10T18:00:00Z on, anyone who installs the app gets `premium` permanently for nothing: `freemium` is free"
        )
        // The last era hasn't begun, so the free era before it is the current one.
        let plus =
            "  - { name: plus, model: paid, begins: { iOS: { build: \"200\", at: 2030-01-01T00:00:00Z } }, changeover: none }\nbuildNumbers"
        #expect(
            try message("freemium", [("buildNumbers", plus)]).hasSuffix("`freemium` is free and is the current era"))
        #expect(
            try message("{ era: freemium, boughtBefore: 2016-01-01 }")
                == "everyone who got the app in `freemium` within the dates has `premium` permanently, but the app was free then"
        )
    }

    @Test func `messages about an honor of limited length say when it ends`() throws {
        func message(_ code: String, _ limits: String) throws -> String {
            try finding(code, [("honors: [paid]", "honors: [{ era: freemium, \(limits) }]")]).message
        }
        #expect(
            try message("honored-era-free", "for: P2W")
                .contains("gets `premium` until 14 days after the end of `freemium` for nothing"))
        #expect(
            try message("honored-era-free", "for: P1Y, until: 2099-01-01").contains(
                "until 1 year after the end of `freemium`, at the latest until 2099-01-02T12:00:00Z for nothing"))
        #expect(
            try message("honor-without-end", "for: P2W")
                == "`for` (14 days) counts from the end of `freemium`, which is the last era: until there is a next one, `premium` never ends"
        )
        #expect(
            try message("honor-without-end", "for: P1Y6M, until: 2099-01-01")
                == "`for` (1 year and 6 months) counts from the end of `freemium`, which is the last era: until there is a next one, `premium` ends only by `until` (2099-01-02T12:00:00Z)"
        )
    }

    @Test func `an honor without a dated end leaves nothing undetermined beside a permanent honor of its era`() throws {
        let honors = ("honors: [paid]", "honors: [paid, { era: paid, for: P1Y }]")
        let message = try finding("honor-without-end", Self.undated + [honors]).message
        #expect(message.hasSuffix("there this honor adds nothing to `premium` for everybody who got the app in `paid`"))
    }

    @Test func `an honor without a dated end is undetermined only after the other honors of its era end`() throws {
        func message(_ honors: String) throws -> String {
            try finding("honor-without-end", Self.undated + [("honors: [paid]", "honors: [\(honors)]")]).message
        }
        let until2030 = "{ era: paid, until: 2030-01-01 }"
        #expect(
            try message("\(until2030), { era: paid, for: P1Y }").hasSuffix(
                "there `premium` is undetermined from 2030-01-02T12:00:00Z on for everybody who got the app in `paid`"))
        #expect(
            try message("\(until2030), { era: paid, for: P1Y, until: 2029-01-01 }").hasSuffix(
                "there this honor adds nothing to `premium` for everybody who got the app in `paid`"))
        // Another honor with dates doesn't cover all customers of the era.
        #expect(
            try message("{ era: paid, boughtSince: 2014-01-01 }, { era: paid, for: P1Y }").hasSuffix(
                "there `premium` is undetermined for everybody who got the app in `paid`"))
    }

    @Test func `an honor of limited length in the last era adds nothing beside a permanent honor of the era`() throws {
        let honors = ("honors: [paid]", "honors: [{ era: freemium, for: P1Y, until: 2099-01-01 }, freemium]")
        let found = try finding("honor-without-end", [honors])
        #expect(
            found.message
                == "`for` (1 year) counts from the end of `freemium`, which is the last era: this honor adds nothing to `premium`"
        )
        #expect(found.fix == "leave out this honor, or acknowledge this finding if it is intended")
    }

    @Test func `a reused build is reported with what it means without a purchase date`() throws {
        let byDate = [("build: \"120\", ", ""), ("increasing", "restarted")]
        let list = "iOS,1.0,1,2014-01-01,paid\niOS,2.1,1,2016-06-10,free\n"
        let unlisted = try finding("build-reused", byDate, list: list)
        #expect(
            unlisted.message.hasSuffix(
                "so the purchase date alone decides; a customer without a known purchase date is undetermined for `premium`"
            ))
        #expect(unlisted.fix == "give each release its own build from now on")
        let own = """
            restarted
            releases:
              - { platform: iOS, build: "1", releasedAt: 2014-01-01 }
              - { platform: iOS, build: "1", releasedAt: 2016-06-10 }
            """
        let listed = try finding("build-reused", [byDate[0], ("increasing", own)])
        #expect(listed.message.hasSuffix("; for a customer without a known purchase date, `inDoubt` decides"))
        #expect(
            listed.fix == "give each release its own build from now on; keep both rows in the policy's release list")
    }

    @Test func `a build reused without an instant between the eras leaves customers with a date undetermined, too`()
        throws
    {
        let own = """
            restarted
            inDoubt: undetermined
            releases:
              - { platform: iOS, build: "1", releasedAt: 2014-01-01 }
              - { platform: iOS, build: "120", releasedAt: 2015-06-10 }
              - { platform: iOS, build: "1", releasedAt: 2016-06-10 }
            """
        #expect(
            try finding("build-reused", Self.undated + [("increasing", own)]).message.hasSuffix(
                "build 1 proves neither era, and no instant separates them; customers of build 1 are undetermined for `premium`"
            ))
    }

    @Test func `a boundary without a date beside a dated one leaves customers without version and date undetermined`()
        throws
    {
        let plus =
            "  - { name: plus, model: paid, begins: { iOS: { build: \"200\", at: 2020-01-01T00:00:00Z } }, changeover: none }\nbuildNumbers"
        #expect(
            try finding("boundary-without-date", Self.undated + [("buildNumbers", plus)]).message
                == "on iOS only build 120 separates `paid` from `freemium`: a customer with neither a known build nor a known purchase date is undetermined for `premium`, and nothing contradicts a wrong build"
        )
    }

    @Test func `a boundary without a date makes no customer undetermined if both eras are honored`() throws {
        let both = ("honors: [paid]", "honors: [paid, { era: freemium, until: 2099-01-01 }]")
        let strict = ("buildNumbers", "inDoubt: undetermined\nbuildNumbers")
        #expect(
            try finding("boundary-without-date", Self.undated + [both, strict]).message
                == "on iOS only build 120 separates `paid` from `freemium`: nothing contradicts a wrong build")
    }

    @Test func `a planned release with a low build is reported with the day from which customers get it`() throws {
        let list = """
            iOS,1.6,110,2015-02-16,paid
            iOS,2.0,120,2015-06-10T18:00:00Z,free
            iOS,2.1,108,2030-01-01,free

            """
        #expect(
            try finding("build-not-above-paid", [], list: list).message.hasPrefix(
                "anyone who installs build 108 from 2030-01-01T00:00:00Z on gets `premium` for nothing"))
    }

    @Test func `a build named after a year gets advice for an app with such builds`() throws {
        let found = try finding("version-for-build", [("\"120\"", "\"2015.6.1\"")])
        #expect(
            found.message.hasPrefix(
                "`2015.6.1` looks like a marketing version named after a year, and on iOS the App Store reports the build (CFBundleVersion): if it is a version, customers"
            ))
        #expect(
            found.fix?.hasSuffix(
                "if `2015.6.1` is that number, add a release list with that release, or add this finding to `acknowledge`"
            ) == true)
    }

    @Test func `a message about many entitlements names twenty of them`() {
        let names = (1...20).map { "e\($0)" }
        #expect(inWords(names).hasSuffix("`e19` and `e20`"))
        #expect(inWords(names + ["e21", "e22"]).hasSuffix("`e19`, `e20` and 2 more"))
        #expect(inWords(names + ["e21"], "or").hasSuffix("`e19`, `e20` or 1 more"))
    }
}
