import Foundation
import TenureCore
import TenurePolicyFile
import Testing

@testable import TenurePolicyLint

/// Both sides of conditions in the rules of the linter, with the whole message.
@Suite struct RuleLimitTests {
    private func findings(
        _ code: String, _ edits: [(String, String)] = [], list: String? = nil, against old: [(String, String)]? = nil
    ) throws -> [LintFinding] {
        try findingsInSamplePolicy(edits, list: list, against: old, at: Date(timeIntervalSince1970: 1.8e9))
            .filter { $0.code == code }
    }

    @Test func `missing builds are reported apart if only the buyers of some keep a right by their purchase date`()
        throws
    {
        let own = """
            releases:
              - { platform: iOS, build: "37", releasedAt: 2014-01-01 }
              - { platform: iOS, build: "120", releasedAt: 2015-06-10T18:00:00Z }
            buildNumbers: increasing
            """
        // Build 111 came out on the day of the change, so its buyers may have a date after the change.
        let list = """
            iOS,1.0,37,2014-01-01,paid
            iOS,1.1,109,2015-01-01,paid
            iOS,1.2,110,2015-02-01,paid
            iOS,1.3,111,2015-06-10,paid
            iOS,2.0,120,2015-06-10T18:00:00Z,free

            """
        let found = try findings(
            "build-not-listed",
            [("buildNumbers: increasing", own), ("{ from: -24h, until: +48h }", "none")], list: list)
        #expect(found.map(\.severity) == [.error, .warning])
        #expect(found.map(\.place) == ["releases/iOS/build 111", "releases/iOS/builds 109 and 110"])
        #expect(
            found.map(\.message) == [
                "the policy's release list lacks build 111 on iOS, so it proves nothing: customers who got it lose `premium`",
                "the policy's release list lacks builds 109 and 110 on iOS, so they prove nothing: customers who got them lose `premium` wherever the purchase date isn't known",
            ])
        #expect(
            found.map(\.fix) == [
                "add this release to the policy's `releases`", "add these releases to the policy's `releases`",
            ])
    }

    @Test func `a free build below a paid build is reported as of today, or until it was replaced`() throws {
        let list = """
            iOS,1.6,110,2015-02-16,paid
            iOS,2.0,120,2015-06-10T18:00:00Z,free
            iOS,2.1,108,2015-08-01,free

            """
        let end =
            "gets `premium` for nothing: build 108 of `freemium` on iOS (2015-08-01) is below build 110 of `paid` (2015-02-16)"
        let current = try findings("build-not-above-paid", list: list)
        #expect(current.map(\.message) == ["anyone who installs build 108 today \(end)"])
        #expect(current.map(\.place) == ["releases/iOS/108"])
        #expect(
            current.map(\.fix) == [
                "ship a build above 110, and add the release list to the policy (key `releases`), so that the release date of build 108 is used"
            ])
        let replaced = try findings("build-not-above-paid", list: list + "iOS,2.2,130,2015-09-01,free\n")
        #expect(replaced.map(\.message) == ["anyone who installed build 108 until 2015-09-01T00:00:00Z \(end)"])
        // A build above the last paid build isn't reported.
        let above = list.replacingOccurrences(of: "2.1,108", with: "2.1,121")
        #expect(try findings("build-not-above-paid", list: above) == [])
    }

    @Test func `a boundary on no release gets the next release of its era as the fix, and not a later paid release`()
        throws
    {
        let list = """
            iOS,1.6,110,2015-02-16,paid
            iOS,1.7,125,2015-06-01,paid
            iOS,2.0,130,2015-06-10T18:00:00Z,free

            """
        let found = try #require(try findings("boundary-on-no-release", list: list).first)
        #expect(found.severity == .warning)
        #expect(
            found.message
                == "`freemium` begins on iOS with build 120, which isn't in the release list (below it 110, above it 125)"
        )
        #expect(found.fix?.hasPrefix("write `build: \"130\"`, or add the missing release to the release list") == true)
    }

    /// The window of the promotion closes on June 3, 186 hours before the change to `freemium`.
    @Test(arguments: [("186h", false), ("669601s", true)])
    func `two changeover windows that touch don't overlap`(from: String, overlap: Bool) throws {
        let promo = """
              - name: promo
                model: free
                begins: { iOS: { build: "90", at: 2015-06-01T00:00:00Z } }
                changeover: { from: -24h, until: +48h }
              - name: freemium

            """
        let found = try findings(
            "eras-overlap",
            [
                ("  - name: freemium\n", promo),
                ("{ from: -24h, until: +48h }\nbuildNumbers", "{ from: -\(from), until: +48h }\nbuildNumbers"),
            ])
        guard overlap else {
            #expect(found == [])
            return
        }
        #expect(found.map(\.place) == ["eras/freemium/changeover/iOS"])
        #expect(
            found.map(\.message) == [
                "on iOS the window of `freemium` opens at 2015-06-02T23:59:59Z, before the window of `promo` has closed (2015-06-03T00:00:00Z): customers who got the app in between may belong to `paid`, `promo` or `freemium`"
            ])
        #expect(found.first?.fix?.hasPrefix("write `changeover: { from: -185h, until: 48h }`") == true)
    }

    @Test func `changed settings are notes that say what the change means`() throws {
        let strict = [
            (
                "buildNumbers",
                "inDoubt: undetermined\nwhileUndetermined: deny\ntestEnvironments: owner\nbuildNumbers"
            )
        ]
        let relaxed = try findings("settings-edited", against: strict)
        #expect(relaxed.allSatisfy { $0.severity == .note })
        #expect(relaxed.map(\.place) == ["inDoubt", "whileUndetermined", "testEnvironments"])
        #expect(
            relaxed.map(\.message) == [
                "`inDoubt` was `undetermined` and is `favorCustomer`: customers with proofs that leave a doubt are now granted what was undetermined",
                "`whileUndetermined` was `deny` and is `{ allow: 72h }`: the setting decides what customers get before anything is known about them",
                "`testEnvironments` was `owner` and is `newCustomer`: this changes what testers and App Review see, but not what customers get",
            ])
        let stricter = try findings("settings-edited", strict, against: [])
        #expect(
            stricter.first?.message
                == "`inDoubt` was `favorCustomer` and is `undetermined`: customers with proofs that leave a doubt, such as buyers within a changeover window, are no longer granted what they have"
        )
        #expect(try findings("settings-edited", strict, against: strict) == [])
    }

    @Test func `a product gives nothing only if every entitlement that lists it is honored for all eras`() throws {
        func found(_ more: String) throws -> [String] {
            try findings("product-gives-nothing", [("honors: [paid]", "honors: [paid, freemium]\n" + more)])
                .map { "\($0.place): \($0.message)" }
        }
        let id = "com.example.calculator.premium"
        let place = "entitlements/premium/products/\(id)"
        let start = "\(place): customers who buy `\(id)` get nothing new: customers of every era already have"
        #expect(try found("") == ["\(start) `premium`"])
        #expect(
            try found("  extra: { products: [\(id)], honors: [paid, freemium] }\n")
                == ["\(start) `premium` and `extra`"])
        #expect(try found("  extra: { products: [\(id)], honors: [paid] }\n") == [])
        #expect(try found("  extra: { products: [\(id)], honors: [paid, { era: freemium, for: P1Y }] }\n") == [])
    }

    @Test(
        arguments: [
            (111, "with build 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111,"),
            (112, "with one of 13 builds from 100 to 112,"),
        ])
    func `a message about a lost right names twelve builds, and counts more than twelve`(last: Int, words: String)
        throws
    {
        let rows = ([37] + Array(100...last)).map { "iOS,,\($0),2015-02-01,\n" }.joined()
        let found = try findings(
            "right-lost", [("\"120\"", "\"100\"")], list: rows + "iOS,,120,2015-06-10T18:00:00Z,\n", against: [])
        #expect(found.contains { $0.message.contains(words) }, "\(found.map(\.message))")
    }

    /// June 10 begins in the first time zone 14 hours before its midnight in UTC.
    @Test(arguments: [(1_433_844_000, true), (1_433_843_999, false)] as [(Double, Bool)])
    func `buyers of a release may lose a right as soon as its day has begun anywhere`(now: Double, isOut: Bool) throws {
        let list = """
            iOS,1.0,1,2012-03-01,paid
            iOS,1.6,110,2015-02-16,paid
            iOS,1.9,115,2015-06-10,paid
            iOS,2.0,120,2015-06-10T18:00:00Z,free

            """
        let found = try findingsInSamplePolicy(
            [("\"120\"", "\"115\"")], list: list, against: [], at: Date(timeIntervalSince1970: now)
        ).filter { $0.code.hasPrefix("right") }
        let lost =
            "customers who got the app on iOS, with build 115, without a known purchase date, would lose `premium`"
        #expect(found.map(\.message) == (isOut ? [lost] : []))
    }

    @Test func `a message about builds names eight of them, and counts more than eight`() throws {
        func words(_ last: Int) -> String { inWords((1...last).compactMap { AppVersion("\($0)") }) }
        #expect(words(1) == "1")
        #expect(words(2) == "1 and 2")
        #expect(words(8) == "1, 2, 3, 4, 5, 6, 7 and 8")
        #expect(words(9) == "1 … 9 (9 in all)")
        #expect(inWords([AppVersion]()) == "none")
        #expect(inWords([String]()) == "nothing")
    }
}
