import Foundation
import TenureCore
import TenurePolicyFile
import Testing

@testable import TenurePolicyLint

/// What the linter once missed: customers between two rules.
@Suite struct GapTests {
    private static let header = "platform,version,build,releasedAt,model\n"
    private static let list = "iOS,1.0,37,2014-01-01,paid\niOS,2.0,120,2015-06-10,free\n"

    private func findings(
        _ edits: [(String, String)] = [], list: String? = nil, at now: Date = Date(timeIntervalSince1970: 1.8e9)
    ) throws -> [LintFinding] {
        let text = edits.reduce(samplePolicy) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
        return Linter.findings(
            in: PolicyFile.draft(Array(text.utf8), named: "policy.yaml") { _ in Array((Self.header + Self.list).utf8) },
            releases: try list.map { try ReleaseListFile.listed(Array((Self.header + $0).utf8), named: "list.csv") },
            at: now)
    }

    /// Returns the code and the severity of each finding, such as `build-not-listed warning`.
    private func found(
        _ edits: [(String, String)] = [], list: String? = nil, at now: Date = Date(timeIntervalSince1970: 1.8e9)
    ) throws -> [String] {
        try findings(edits, list: list, at: now).map { "\($0.code) \($0.severity.rawValue)" }
    }

    // MARK: Honors of limited length

    @Test func `an honor of limited length has ended only if it has ended on every platform`() throws {
        func isOver(mac: String) throws -> Bool {
            try findings(
                [
                    (
                        "at: 2015-06-10T18:00:00Z }",
                        "at: 2015-06-10T18:00:00Z }\n      macOS: { version: \"2.0\", at: \(mac) }"
                    ),
                    ("honors: [paid]", "honors: [{ era: paid, for: P1Y }]"),
                ], at: Date(timeIntervalSince1970: 1_480_550_400)
            ).contains { $0.message.contains("had `premium` only for a time") }
        }
        #expect(try isOver(mac: "2015-06-12T18:00:00Z"))
        #expect(try !isOver(mac: "2016-06-12T18:00:00Z"))
    }

    @Test func `a platform with its own build in a later era still inherits the earlier boundary of iOS`() throws {
        let club = """
            }
              - name: club
                model: free
                begins:
                  iOS: { build: "200", at: 2023-06-10T18:00:00Z }
                  visionOS: { build: "2000", at: 2024-02-02T08:00:00Z }
            buildNumbers
            """
        let list =
            Self.list + "iOS,3.0,200,2023-06-10T18:00:00Z,free\nvisionOS,3.1,2000,2024-02-02T08:00:00Z,free\n"
        let found = try findings([("}\nbuildNumbers", club)], list: list).filter { $0.code == "inherits-from-ios" }
        #expect(found.map(\.place) == ["eras/freemium/begins/iOS"])
        #expect(
            found.map(\.message) == ["customers who first got the app on visionOS are judged by iOS's build 120"])
    }

    // MARK: Releases that the policy's own list lacks

    private static let own = [("buildNumbers: increasing", "releases: own.csv")]

    @Test func `a paid build missing from the policy's release list is reported with what its owners lose`() throws {
        let all = Self.list + "iOS,1.1,110,2015-02-01,paid\niOS,1.2,111,2015-03-01,paid\niOS,2.1,121,2015-07-01,free\n"
        let found = try findings(Self.own, list: all)
        #expect(found.map(\.code) == ["build-not-listed"])
        #expect(found.first?.severity == .warning)
        #expect(found.first?.place == "releases/iOS/builds 110 and 111")
        #expect(found.first?.message.contains("builds 110 and 111") == true)
        #expect(found.first?.message.contains("lose `premium` wherever the purchase date isn't known") == true)
        #expect(try self.found(Self.own, list: Self.list) == [])
        #expect(try self.found(Self.own) == [])
        // If the policy has no release list, a build number between two boundaries proves an era.
        #expect(try self.found(list: all) == [])
    }

    @Test func `a paid build missing from the policy's release list is an error if the boundary has no date`() throws {
        let undated =
            Self.own + [
                (", at: 2015-06-10T18:00:00Z", ""), ("    changeover: { from: -24h, until: +48h }\n", ""),
            ]
        let found = try findings(undated, list: Self.list + "iOS,1.1,110,2015-02-01,paid\n")
        #expect(found.first { $0.code == "build-not-listed" }?.severity == .error)
    }

    @Test(arguments: [("boughtBefore: 2015-01-01", false), ("boughtSince: 2015-01-01", true)])
    func `a missing build is reported only if an honor includes the dates on which its owners bought it`(
        limit: String, isReported: Bool
    ) throws {
        let edits = Self.own + [("[paid]", "[{ era: paid, \(limit) }]")]
        let found = try found(edits, list: Self.list + "iOS,1.1,110,2015-02-01,paid\n")
        #expect(found.contains { $0.hasPrefix("build-not-listed") } == isReported, "\(found)")
    }

    @Test func `owners of paid builds above a boundary keep a right by date only if all builds came out before it`()
        throws
    {
        let early = "iOS,1.9,121,2015-05-01,paid\n"
        let late = "iOS,1.10,122,2016-02-01,paid\n"
        for (rows, datesHelp) in [(early, true), (early + late, false), (late + early, false), (late, false)] {
            let found = try findings(list: Self.list + rows).filter { $0.code == "paid-build-unhonored" }
            #expect(found.count == 1, "\(rows)")
            #expect(found.first?.message.contains("wherever the purchase date isn't known") == datesHelp, "\(rows)")
        }
    }

    /// `tenure serve` checks the policy without the list of all releases.
    @Test func `an acknowledged unlisted build counts as unused only if the list of all releases is checked`() throws {
        let stated =
            Self.own + [
                (
                    "releases: own.csv",
                    "releases: own.csv\nacknowledge: [{ code: build-not-listed, at: releases/iOS/build 110, reason: never out }]"
                )
            ]
        #expect(try found(stated) == [])
        let found = try findings(stated, list: Self.list + "iOS,1.1,110,2015-02-01,paid\n")
        #expect(found.map(\.isAcknowledged) == [true])
        #expect(try self.found(stated, list: Self.list) == ["acknowledgment-without-finding error"])
    }

    // MARK: A date that is years too late

    private static let late = [("2015-06-10T18", "2016-06-10T18")]

    @Test func `a release that was free before its era contradicts the era's date, not its build`() throws {
        let found = try findings(Self.late, list: Self.list)
        #expect(found.map(\.code) == ["model-contradicted"])
        #expect(found.first?.severity == .error)
        #expect(
            found.first?.message.contains("build 120 on iOS (2015-06-10) was free, but by date it counts as `paid`")
                == true)
        #expect(found.first?.message.contains("`premium` for nothing") == true)
        #expect(
            found.first?.fix
                == "add an era that begins with this release, correct where `freemium` begins, or correct the release's row in the release list"
        )
        let more = Self.list + "iOS,2.1,125,2015-09-10,free\niOS,2.2,130,2016-01-10,free\n"
        let all = try findings(Self.late, list: more).filter { $0.code == "model-contradicted" }
        #expect(all.count == 1 && all[0].message.contains("builds 120, 125 and 130"))
        #expect(try !self.found(Self.late, list: more).contains("paid-build-beyond-boundary warning"))
    }

    /// A date without a time can be any instant of that day in any time zone.
    @Test(arguments: ["2015-06-10", "2015-06-09", "2015-06-10T06:00:00Z"])
    func `a release that was free some hours before its era gets no finding`(_ moment: String) throws {
        let list = "iOS,1.0,37,2014-01-01,paid\niOS,2.0,120,\(moment),free\n"
        #expect(try found(list: list) == [])
        let early = [("{ from: -24h, until: +48h }", "none"), ("2015-06-10T18", "2015-06-10T02")]
        if moment != "2015-06-10T06:00:00Z" { #expect(try found(early, list: list) == []) }
    }

    // MARK: Buyers between two honors

    @Test func `owners outside of the dates of every honor are reported with their purchase dates`() throws {
        let since = [("[paid]", "[{ era: paid, boughtSince: 2014-06-10 }]")]
        // Without a release list, the app may have come out on that day, so there may be no such owners.
        for (list, severity) in [
            (nil, LintFinding.Severity.warning),
            ("iOS,1.0,37,2013-01-01,paid\niOS,2.0,120,2015-06-10,free\n", .error),
        ] {
            let found = try findings(since, list: list)
            #expect(found.map(\.code) == ["paid-era-unhonored"])
            #expect(found.first?.severity == severity)
            #expect(found.first?.place == "eras/paid/before 2014-06-09T10:00:00Z")
            #expect(found.first?.fix == "add `paid` to the `honors` of `premium`")
            #expect(found.first?.message.contains("if the app was out then") == (list == nil))
        }
        // The app came out on that day, so no customer bought it before.
        #expect(try found(since, list: "iOS,1.0,37,2014-06-10,paid\niOS,2.0,120,2015-06-10,free\n") == [])
        let before = [("[paid]", "[{ era: paid, boughtBefore: 2014-06-10 }]")]
        #expect(try findings(before).map(\.place) == ["eras/paid/from 2014-06-10T12:00:00Z"])
        #expect(try found(before) == ["paid-era-unhonored error"])
        let late = [("[paid]", "[{ era: paid, boughtSince: 2014-06-10, boughtBefore: 2015-01-01 }]")]
        #expect(try found(late) == ["paid-era-unhonored error"])
        let both = "{ era: paid, boughtBefore: 2013-06-10 }, { era: paid, boughtSince: 2014-06-10 }"
        #expect(
            try findings([("[paid]", "[\(both)]")]).map(\.place)
                == ["eras/paid/from 2013-06-10T12:00:00Z to before 2014-06-09T10:00:00Z"])
    }

    @Test func `owners included only by an honor that has ended are reported`() throws {
        let partial = "{ era: paid, boughtBefore: 2014-06-10 }"
        for ended in ["{ era: paid, until: 2016-06-10 }", "{ era: paid, boughtSince: 2014-06-10, for: P1Y }"] {
            let edits = [("[paid]", "[\(partial), \(ended)]")]
            // While the second honor lasts, every owner has the entitlement.
            #expect(try found(edits, at: Date(timeIntervalSince1970: 1.44e9)) == [])
            let found = try findings(edits)
            #expect(found.map(\.place) == ["eras/paid/from 2014-06-10T12:00:00Z"], "\(ended)")
            #expect(found.first?.fix == "add `paid` to the `honors` of `premium`")
        }
    }

    @Test(arguments: [
        "[{ era: paid, boughtBefore: 2014-06-10 }, { era: paid, boughtSince: 2014-06-10 }]",
        // The changeover window includes the rest of that day.
        "[{ era: paid, boughtBefore: 2015-06-10 }]",
        "[paid]\n  cloud: { products: [b], honors: [{ era: paid, boughtSince: 2014-06-10, for: P1Y }] }",
    ])
    func `honors that include every owner get no finding`(_ honors: String) throws {
        #expect(try found([("[paid]", honors)]) == [])
    }

    @Test func `an honor's date limit gets no finding if the policy has no date for the era's end`() throws {
        let undated = [
            (", at: 2015-06-10T18:00:00Z", ""), ("    changeover: { from: -24h, until: +48h }\n", ""),
            ("[paid]", "[{ era: paid, boughtBefore: 2015-06-10 }]"),
        ]
        #expect(try !found(undated).contains { $0.hasPrefix("paid-era-unhonored") })
    }

    @Test func `a policy gets a warning if owners keep what they paid for only for a time`() throws {
        let during = Date(timeIntervalSince1970: 1.44e9)
        for (honor, limit) in [("until: 2016-06-10", "until 2016-06-11T12:00:00Z"), ("for: P1Y", "for 1 year")] {
            let limited = [("[paid]", "[{ era: paid, \(honor) }]")]
            let found = try findings(limited, at: during)
            #expect(found.map(\.code) == ["paid-era-unhonored"])
            #expect(found.first?.severity == .warning)
            #expect(found.first?.place == "eras/paid/only for a time")
            #expect(found.first?.message.contains("`premium` only for a time (\(limit))") == true)
            // The time is over, so owners can't lose anything anymore.
            #expect(try self.found(limited) == ["paid-era-unhonored note"])
        }
        let kept = "[{ era: paid, until: 2016-06-10 }]\n  core: { products: [b], honors: [paid] }"
        #expect(try found([("[paid]", kept)], at: during) == [])
    }

    // MARK: A beginning without effect

    /// Rule A8: an iOS boundary before tvOS's App Store opened is read as `new` on tvOS.
    @Test(arguments: ["{ build: \"10\" }", "{ build: \"10\", at: 2016-01-01T00:00:00Z }", "new"])
    func `a tvOS beginning in an era before the first era of tvOS is reported as without effect`(_ own: String) throws {
        func findings(sale platforms: String, freemium more: String = "") throws -> [LintFinding] {
            let sale =
                "  - { name: sale, model: paid, begins: { \(platforms) }, changeover: none }\n  - name: freemium\n"
            return try self.findings([
                ("  - name: freemium\n", sale), ("      iOS: {", "      \(more)iOS: {"), ("[paid]", "[paid, sale]"),
            ]).filter { $0.code == "eras-backwards" }
        }
        let iOS = "iOS: { build: \"90\", at: 2014-06-10T18:00:00Z }"
        let found = try findings(sale: "\(iOS), tvOS: \(own)")
        #expect(found.map(\.place) == ["eras/sale/begins/tvOS"])
        #expect(found.first?.severity == .error && found.first?.isMistake == false)
        #expect(found.first?.fix == "remove the entry, or add `tvOS` under `begins` of `freemium`")
        // Without a beginning, `sale` wouldn't be an era.
        #expect(try findings(sale: "tvOS: \(own)").map(\.fix) == ["add `tvOS` under `begins` of `freemium`"])
        let tvOS = "tvOS: { build: \"20\", at: 2017-01-01T00:00:00Z }\n      "
        #expect(try findings(sale: "\(iOS), tvOS: \(own)", freemium: tvOS) == [])
        #expect(try findings(sale: iOS) == [])
    }

    // MARK: Windows and honors that do something else than they say

    @Test func `a changeover window of the first era is a warning, with its removal as the fix`() throws {
        let era = "{ name: paid, model: paid, changeover: { until: +48h } }"
        let first = try findings([("{ name: paid, model: paid }", era)])
        #expect(first.map(\.code) == ["changeover-without-date"])
        #expect(first.first?.place == "eras/paid/changeover")
        #expect(first.first?.message.contains("no change leads to this era") == true)
        #expect(first.first?.severity == .warning && first.first?.fix == "remove `changeover`")
    }

    @Test func `an honor that ends before its era does is a warning, and one that ends with it isn't`() throws {
        // The era lasts until the end of the changeover window.
        let now = Date(timeIntervalSince1970: 1.43e9)
        for (until, codes) in [
            ("2015-06-12T17:59:59Z", ["honor-window-outside-era warning"]), ("2015-06-12T18:00:00Z", []),
        ] {
            let edits = [("[paid]", "[{ era: paid, until: \(until) }]")]
            #expect(try found(edits, at: now).filter { $0.hasPrefix("honor-window") } == codes, "\(until)")
        }
    }

    @Test func `two eras that begin with the same build are a warning unless both have a date`() throws {
        func found(sale: String) throws -> [LintFinding] {
            let era = """
                  - name: sale
                    model: paid
                    begins:
                      iOS: { build: "120"\(sale) }
                    changeover: none

                """
            return try findings([("  - name: freemium\n", era + "  - name: freemium\n")])
                .filter { $0.code == "era-never-applies" }
        }
        let undated = try found(sale: "")
        #expect(undated.map(\.severity) == [.warning])
        #expect(undated.first?.message.contains("no instant separates them") == true)
        #expect(try found(sale: ", at: 2015-06-01T18:00:00Z") == [])
    }

    // MARK: A major version for a build

    @Test func `a build of one digit is a warning unless a release list has this build`() throws {
        for number in ["2", "3", "9"] {
            #expect(try found([("\"120\"", "\"\(number)\"")]) == ["version-for-build warning"])
            let list = "iOS,1.0,1,2014-01-01,paid\niOS,2.0,\(number),2015-06-10,free\n"
            #expect(try found([("\"120\"", "\"\(number)\"")], list: list) == [])
        }
        for number in ["10", "20", "37", "99"] { #expect(try found([("\"120\"", "\"\(number)\"")]) == []) }
        #expect(try found([("iOS: { build: \"120\"", "macOS: { version: \"2\"")]) == [])
        // Build numbers that restarted are never compared.
        let restarted = [("\"120\"", "\"2\""), ("increasing", "restarted")]
        #expect(try found(restarted) == ["build-never-used warning"])
    }
}
