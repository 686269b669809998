import Foundation
import TenureCore
import TenurePolicyFile
import Testing

@testable import TenurePolicyLint

/// Correct files that the linter once reported, and mistakes that it once missed.
@Suite struct FalseAlarmTests {
    private static let now = Date(timeIntervalSince1970: 1.8e9)

    private func findings(
        _ edits: [(String, String)] = [], list: String? = nil, against old: [(String, String)]? = nil,
        at now: Date = now
    ) throws -> [LintFinding] {
        try findingsInSamplePolicy(edits, list: list, against: old, at: now)
    }

    private func codes(
        _ edits: [(String, String)] = [], list: String? = nil, against old: [(String, String)]? = nil,
        at now: Date = now
    ) throws -> [String] {
        try findings(edits, list: list, against: old, at: now).map(\.code)
    }

    // MARK: False alarms

    @Test func `a policy without honors may deny everything while nothing is known about a customer`() throws {
        let denying = ("buildNumbers: increasing", "buildNumbers: increasing\nwhileUndetermined: deny")
        #expect(try codes([denying]).contains("undetermined-denies"))
        #expect(try !codes([denying, ("\n    honors: [paid]", "")]).contains("undetermined-denies"))
    }

    @Test func `an undated build that begins two eras is out of order only if the list contradicts both dates`() throws
    {
        func codes(freeSince date: String) throws -> [String] {
            let gold = """
                  - name: gold
                    model: paid
                    begins:
                      iOS: { build: "120", at: 2016-06-10T18:00:00Z }
                    changeover: none
                buildNumbers: increasing
                releases: own.csv
                """
            let text = samplePolicy.replacingOccurrences(of: "2015-06-10T18:00:00Z", with: date)
                .replacingOccurrences(of: "buildNumbers: increasing", with: gold)
            let list = "platform,build,releasedAt\niOS,110,2014-01-01\niOS,120,\niOS,130,2016-01-01\n"
            return Linter.findings(
                in: PolicyFile.draft(Array(text.utf8), named: "policy.yaml") { _ in Array(list.utf8) }, at: Self.now
            ).map(\.code)
        }
        #expect(try !codes(freeSince: "2015-06-10T18:00:00Z").contains("boundary-out-of-order"))
        #expect(try codes(freeSince: "2013-06-10T18:00:00Z").contains("boundary-out-of-order"))
    }

    @Test func `a boundary at version 1.0 gets no finding if the release list has a paid version 0.9`() throws {
        let mac = [("iOS: { build: \"120\"", "macOS: { version: \"1.0\"")]
        #expect(try codes(mac, list: "macOS,0.9,,2014-02-01,paid\nmacOS,1.0,,2015-06-10T18:00:00Z,free\n") == [])
        let unlisted = try findings(mac)
        #expect(unlisted.map(\.code) == ["boundary-at-first-build"])
        #expect(unlisted.first?.severity == .warning)
        let iOS = [("\"120\"", "\"1.0\"")]
        #expect(try codes(iOS, list: "iOS,0.9,0.9,2014-02-01,paid\niOS,1.0,1.0,2015-06-10T18:00:00Z,free\n") == [])
        #expect(
            try findings(mac, list: "macOS,1.0,,2014-02-01,paid\nmacOS,1.1,,2015-06-10T18:00:00Z,free\n")
                .contains { $0.code == "boundary-at-first-build" && $0.severity == .error })
    }

    @Test func `a boundary at an undated release isn't reported as a boundary without a release`() throws {
        let iOS = "iOS,1.0,37,2014-02-01,paid\niOS,2.0,120,,free\niOS,2.1,130,2015-07-01,free\n"
        #expect(try !codes(list: iOS).contains("boundary-on-no-release"))
        let mac = [("iOS: { build: \"120\"", "macOS: { version: \"1.0\"")]
        #expect(try codes(mac, list: "macOS,0.9,,,paid\nmacOS,1.0,,2015-06-10T18:00:00Z,free\n") == [])
        let own = """
            releases:
              - { platform: iOS, build: "37", releasedAt: 2014-02-01 }
              - { platform: iOS, build: "120" }
            """
        let found = try codes([("buildNumbers: increasing", own)])
        #expect(Set(found).isDisjoint(with: ["boundary-on-no-release", "era-without-release"]), "\(found)")
    }

    @Test func `an honor with a time limit isn't reported as endless if the next era has a date`() throws {
        let edits = [
            ("18:00:00Z }\n", "18:00:00Z }\n      macOS: { version: \"2.0\", at: 2015-06-10T18:00:00Z }\n"),
            (
                "buildNumbers",
                """
                  - name: plus
                    model: free
                    begins: { iOS: { build: "200", at: 2020-01-01T00:00:00Z } }
                    changeover: none
                buildNumbers
                """
            ),
            ("honors: [paid]", "honors: [{ era: freemium, for: P1Y }]"),
        ]
        #expect(try !codes(edits).contains("honor-without-end"))
        // Without the date of the next era, nothing ends the honor.
        let undated = edits + [(", at: 2020-01-01T00:00:00Z", "")]
        #expect(try codes(undated).contains("honor-without-end"))
    }

    @Test
    func `two releases on one day don't contradict increasing build numbers, even if the lower build is listed last`()
        throws
    {
        let list = "iOS,1.0,37,2014-01-01,paid\niOS,1.1,60,2014-06-01,paid\niOS,1.2,50,2014-06-01,paid\n"
        let free = "iOS,2.0,120,2015-06-10T18:00:00Z,free\n"
        #expect(try codes(list: list + free) == [])
        let later = list.replacingOccurrences(of: "50,2014-06-01", with: "50,2014-06-02")
        #expect(try codes(list: later + free).contains("increasing-contradicted"))
    }

    @Test func `the first release of an era may come out within the era's changeover window`() throws {
        let list = "iOS,1.0,37,2014-01-01T12:00:00Z,\niOS,2.0,120,2015-06-10T06:00:00Z,\n"
        #expect(try codes(list: list) == [])
        let early = list.replacingOccurrences(of: "2015-06-10T06", with: "2015-05-10T06")
        #expect(try codes(list: early) == ["paid-build-beyond-boundary"])
    }

    @Test func `a release that is listed twice gets no finding, and a build number with two versions gets a finding`()
        throws
    {
        let list = "iOS,1.0,1,2012-03-01,paid\niOS,1.6,110,2015-02-16,paid\niOS,1.6,110,2015-03-01,paid\n"
        let free = "iOS,2.0,120,2015-06-10T18:00:00Z,free\n"
        #expect(try codes(list: list + free) == [])
        // Without a version column the two rows can be the same release.
        #expect(try codes(list: list.replacingOccurrences(of: ",1.6,", with: ",,") + free) == [])
        let reused = list.replacingOccurrences(of: "1.6,110,2015-03-01", with: "1.7,110,2015-03-01")
        #expect(try codes(list: reused + free) == ["increasing-contradicted"])
        // The same row twice, as if one were for iPhone and one for iPad.
        #expect(try codes(list: list + free + free) == [])
    }

    @Test func `customers of build numbers that were never released aren't reported as losing a right`() throws {
        let list = "iOS,1.0,1,2012-03-01,paid\niOS,1.6,110,2015-02-16,paid\niOS,2.0,120,2015-06-10T18:00:00Z,free\n"
        let moved = [("\"120\"", "\"115\"")]
        #expect(try codes(moved, against: []).contains("right-lost"))
        #expect(try codes(moved, list: list, against: []).filter { $0.hasPrefix("right") } == [])
        #expect(try codes([("\"120\"", "\"110\"")], list: list, against: []).contains("right-lost"))
        // Until build 115 is released, the change takes nothing away from any customer.
        let planned = list + "iOS,1.9,115,2015-06-09T18:00:00Z,paid\n"
        let before = Date(timeIntervalSince1970: 1.43e9)
        #expect(try codes(moved, list: planned, against: [], at: before).filter { $0.hasPrefix("right") } == [])
        #expect(try codes(moved, list: planned, against: []).contains("right-lost"))
    }

    @Test func `an app that is only on iOS gets no finding about inherited boundaries`() throws {
        #expect(try codes() == [])
        let list = "iOS,1.0,1,2012-03-01,paid\niOS,2.0,120,2015-06-10T18:00:00Z,free\n"
        #expect(try codes(list: list) == [])
        let vision = "visionOS,3.2,240,2024-02-02T08:00:00Z,free\n"
        #expect(try codes(list: list + vision) == ["inherits-from-ios"])
        // The app came to this platform in a later era, so earlier boundaries don't apply there.
        let later = """
            }
              - name: club
                model: free
                begins: { iOS: { build: "200", at: 2023-06-10T18:00:00Z }, visionOS: new }
            buildNumbers
            """
        let club = [("}\nbuildNumbers", later)]
        #expect(try codes(club, list: list + "iOS,3.0,200,2023-06-10T18:00:00Z,free\n" + vision) == [])
    }

    @Test func `a policy without a required changeover gets one finding`() throws {
        let unstated = [
            ("\n    changeover: { from: -24h, until: +48h }", ""),
            ("[paid]\n", "[paid]\n  cloud: { honors: [freemium] }\n"),
        ]
        #expect(try codes(unstated).filter { $0 == "no-changeover" }.count == 1)
    }

    @Test func `an ended honor with a time limit in the last era gets no finding`() throws {
        let ended = [("[paid]", "[paid, { era: freemium, for: P1Y, until: 2016-01-01 }]")]
        let during = try #require(CivilDay("2015-12-01")?.midnight)
        #expect(try codes(ended, at: during).contains("honor-without-end"))
        #expect(try codes(ended) == [])
    }

    @Test func `an honor that has ended gets no finding about rights that it gave`() throws {
        let ended = [("[paid]", "[paid, { era: freemium, until: 2016-01-01 }]")]
        let during = Date(timeIntervalSince1970: 1.44e9)
        #expect(try codes(ended, at: during) == ["honored-era-free"])
        #expect(try codes(ended) == [])
        // The last day ends at noon of the next day in UTC, when it is over in every time zone.
        let end = Date(timeIntervalSince1970: 1_451_606_400 + 36 * 3600)
        #expect(try codes(ended, at: end.addingTimeInterval(-1)) == ["honored-era-free"])
        #expect(try codes(ended, at: end) == [])

        let year = [("[paid]", "[{ era: paid, for: P1Y }]")]
        let list = "iOS,1.6,110,2015-02-16,\niOS,2.0,120,2015-07-20,\n"
        #expect(try codes(year, list: list, at: during).contains("sold-across-change"))
        func unlessNotes(_ edits: [(String, String)], list: String? = nil) throws -> [LintFinding] {
            try findings(edits, list: list).filter { $0.severity > .note }
        }
        #expect(try unlessNotes(year, list: list) == [])
        // What the era gave before its end isn't reported.
        #expect(try unlessNotes([("[paid]", "[{ era: paid, until: 2016-01-01 }]")]) == [])
        #expect(try unlessNotes([("[paid]", "[{ era: paid, boughtSince: 2016-06-01, until: 2017-01-01 }]")]) == [])
    }

    // MARK: Undated releases that stayed on sale

    /// Returns the findings about releases that stayed on sale: the line in the list, the severity and the message.
    private func sold(_ edits: [(String, String)] = [], _ list: String) throws -> [String] {
        try findings(edits, list: list).filter { $0.code == "sold-across-change" }
            .map { "\($0.position.line) \($0.severity.rawValue) \($0.message)" }
    }

    @Test func `an undated release that stayed on sale after the change, and counts as paid, is reported`() throws {
        let found = try sold([], "iOS,1.0,1,2012-03-01,paid\niOS,1.6,110,,paid\niOS,2.0,120,2015-07-20,free\n")
        #expect(
            found == [
                "3 error build 110 on iOS counts as `paid` and was on sale until 2015-07-20T00:00:00Z, in `freemium`: anyone who installed it after 2015-06-12T18:00:00Z gets `premium` for nothing"
            ])
        // Build 115 came out after the change, but its build number counts as paid.
        let late = try sold([], "iOS,2.0,120,2015-06-10T18:00:00Z,free\niOS,1.7,115,,\niOS,2.1,130,2015-08-01,free\n")
        #expect(late.count == 1 && late[0].hasPrefix("3 error build 115"), "\(late)")
        // The list may lack newer releases, so this is only a warning.
        let newest = try sold([], "iOS,1.0,1,2012-03-01,paid\niOS,1.6,110,,paid\n")
        #expect(newest.count == 1 && newest[0].hasPrefix("3 warning build 110"), "\(newest)")
    }

    @Test func `of several undated releases in a row, only the last is reported as on sale across the change`() throws {
        let found = try sold([], "iOS,1.5,100,2015-01-01,paid\niOS,1.6,110,,\niOS,1.7,115,,\niOS,2.0,120,2015-07-20,\n")
        #expect(found.count == 1 && found[0].hasPrefix("4 error build 115"), "\(found)")
    }

    @Test
    func `an undated release isn't reported if its sale may have ended before the change, or if it proves no era`()
        throws
    {
        // Build 120 replaced build 110 within the changeover window.
        let list = "iOS,1.0,1,2012-03-01,paid\niOS,1.6,110,,paid\niOS,2.0,120,2015-06-12T12:00:00Z,free\n"
        #expect(try sold([], list) == [])
        // The boundary's version began at the boundary's instant (rule A5).
        #expect(
            try sold([], "iOS,1.6,110,2015-02-16,paid\niOS,2.0,120,,free\niOS,2.1,130,2015-08-01,free\n") == [])
        let across = "iOS,1.0,1,2012-03-01,\niOS,1.6,110,,\niOS,2.0,120,2015-07-20,\n"
        #expect(try sold([("buildNumbers: increasing", "buildNumbers: restarted")], across) == [])
        // The policy's own list decides: an undated release may be of either era (rule A5), so the date decides.
        let own = """
            releases:
              - { platform: iOS, build: "1", releasedAt: 2012-03-01 }
              - { platform: iOS, build: "110" }
              - { platform: iOS, build: "120", releasedAt: 2015-07-20 }
            buildNumbers: increasing
            """
        #expect(try codes([("buildNumbers: increasing", own)]).allSatisfy { $0 != "sold-across-change" })
    }

    // MARK: Mistakes that were missed

    @Test func `a build like 2015 on iOS is reported as a marketing version, and a macOS version 2015 isn't`() throws {
        for year in ["2014", "2015", "2016", "2015.1"] {
            let found = try findings([("\"120\"", "\"\(year)\"")])
            #expect(found.map(\.code) == ["version-for-build"])
            #expect(found.first?.severity == .warning)
        }
        for number in ["1987", "2013", "2017"] { #expect(try codes([("\"120\"", "\"\(number)\"")]) == []) }
        #expect(
            try codes([("\"120\"", "\"2015\"")], list: "iOS,3.1,2000,2014-01-01,\niOS,3.2,2015,2015-06-10T18:00:00Z,\n")
                == [])
        #expect(try codes([("iOS: { build: \"120\"", "macOS: { version: \"2015\"")]) == [])
        #expect(try codes([("iOS: { build: \"120\"", "macOS: { version: \"4521\"")]) == ["build-for-version"])
    }

    @Test func `the linter reports owners who must buy again, even if they keep a second entitlement`() throws {
        func found(_ honors: String) throws -> [String] {
            try findings([("honors: [paid]", "trial: { days: 3 }\n" + honors)])
                .map { "\($0.code) \($0.severity.rawValue) \($0.place)" }
        }
        #expect(try found("") == ["paid-era-unhonored error eras/paid"])
        #expect(
            try found("  badge:\n    honors: [paid]") == ["paid-era-unhonored warning eras/paid/premium"])
        // A year of another entitlement doesn't replace the lost one.
        let year = "  cloud:\n    products: [yearly]\n    honors: [{ era: paid, for: P1Y }]"
        #expect(try found(year) == ["paid-era-unhonored warning eras/paid/premium"])
        let message = try findings([("honors: [paid]", "trial: { days: 3 }\n" + year)]).first?.message
        #expect(message?.contains("no sold entitlement permanently") == true)
        // A new entitlement may be sold to owners too, but only the developer knows which entitlements are new.
        let second = "  everything:\n    products: [all]\n    honors: [paid]"
        #expect(try found(second) == ["paid-era-unhonored warning eras/paid/premium"])
        let stated =
            "\nacknowledge: [{ code: paid-era-unhonored, at: eras/paid/premium, reason: It is new. }]"
        #expect(
            try findings([("honors: [paid]", "trial: { days: 3 }\n" + second + stated)])
                .map { "\($0.code) \($0.isAcknowledged)" } == ["paid-era-unhonored true"])
    }

    /// New customers have the entitlement for a while, and owners permanently, so a customer's era still matters.
    @Test func `a missing boundary date is reported even if the next era is honored until a date`() throws {
        let undated = [
            ("honors: [paid]", "honors: [paid, { era: freemium, until: 2099-01-01 }]"),
            (", at: 2015-06-10T18:00:00Z", ""), ("    changeover: { from: -24h, until: +48h }\n", ""),
        ]
        #expect(try codes(undated).contains("boundary-without-date"))
    }

    /// An honor's year starts at the end of its era, so the years of the two honors end at different times.
    @Test func `a missing boundary date is reported even if both eras are honored for one year`() throws {
        let undated = [
            ("honors: [paid]", "honors: [{ era: paid, for: P1Y }, { era: freemium, for: P1Y }]"),
            (", at: 2015-06-10T18:00:00Z", ""), ("    changeover: { from: -24h, until: +48h }\n", ""),
        ]
        #expect(try codes(undated).contains("boundary-without-date"))
    }

    @Test func `a free build below any earlier paid build is reported, even if the last paid build is lower`() throws {
        let list = """
            iOS,1.0,100,2014-01-01,paid
            iOS,1.1,110,2014-05-01,paid
            iOS,1.2,105,2015-01-01,paid
            iOS,2.0,120,2015-06-10T18:00:00Z,free
            iOS,2.1,108,2015-08-01,free

            """
        let found = try findings(list: list).filter { $0.code == "build-not-above-paid" }
        #expect(found.count == 1 && found.first?.message.contains("below build 110 of `paid`") == true, "\(found)")
    }

    @Test(arguments: [("5", "4", true), ("5", "5", false), ("5", "6", false)])
    func `a trial that becomes shorter is reported`(_ before: String, _ after: String, _ isReported: Bool) throws {
        for unit in ["sessions", "days"] {
            func trial(_ count: String) -> [(String, String)] {
                [("honors: [paid]", "honors: [paid]\n    trial: { \(unit): \(count) }")]
            }
            #expect(try codes(trial(after), against: trial(before)) == (isReported ? ["trial-shortened"] : []))
            #expect(try codes(against: trial(before)) == ["trial-shortened"])
            #expect(try codes(trial(after), against: []) == [])
        }
        let sessions = [("honors: [paid]", "honors: [paid]\n    trial: { sessions: 9 }")]
        let days = [("honors: [paid]", "honors: [paid]\n    trial: { days: 90 }")]
        #expect(try codes(days, against: sessions) == ["trial-shortened"])
        for (new, old, key) in [(days, sessions, "sessions: 9"), (sessions, days, "days: 90")] {
            let found = try findings(new, against: old)
            #expect(found.map(\.fix) == ["write `trial: { \(key) }`"], "\(found)")
        }
    }

    @Test(arguments: [("1s", true), ("23h", true), ("86399s", true), ("24h", false), ("72h", false)])
    func `a whileUndetermined that allows less than a day is reported`(_ length: String, _ isReported: Bool) throws {
        let edit = [("buildNumbers", "whileUndetermined: { allow: \(length) }\nbuildNumbers")]
        #expect(try codes(edit) == (isReported ? ["allow-too-short"] : []))
    }

    // MARK: Limits

    @Test func `a changeover window of just more than two weeks is reported`() throws {
        func found(_ from: String, _ until: String) throws -> [LintFinding] {
            try findings([("{ from: -24h, until: +48h }", "{ from: \(from), until: \(until) }")])
        }
        #expect(try found("-24h", "+312h") == [])
        #expect(try found("-14d", "0s") == [])
        let above = try found("-24h", "1123201s")
        #expect(above.map(\.code) == ["changeover-wide"])
        #expect(
            above.first?.message
                == "the changeover window of `freemium` is 14 days and 1s wide, more than 14 days: anyone who installed the app until 2015-06-23T18:00:01Z gets `premium` for nothing"
        )
        #expect(try found("-1209601s", "0s").map(\.code) == ["changeover-wide"])
    }

    /// `paid` ends, and `freemium` begins, with the changeover window.
    @Test func `an honor is reported if its dates leave no time within its era`() throws {
        let (begin, end) = ("2015-06-09T18:00:00Z", "2015-06-12T18:00:00Z")
        let cases = [
            ("{ era: paid, boughtSince: \(end) }", true),
            ("{ era: paid, boughtSince: 2015-06-12T17:59:59Z }", false),
            ("paid, { era: freemium, boughtBefore: \(begin) }", true),
            ("paid, { era: freemium, boughtBefore: 2015-06-09T18:00:01Z }", false),
            ("paid, { era: freemium, until: \(begin) }", true),
            ("paid, { era: freemium, until: 2015-06-09T18:00:01Z }", false),
        ]
        for (honors, isReported) in cases {
            let found = try codes([("[paid]", "[\(honors)]")], at: .distantFuture)
            #expect(found.contains("honor-window-outside-era") == isReported, "\(honors): \(found)")
        }
    }

    @Test func `an honor's dates aren't reported if customers of one of several platforms can meet them`() throws {
        let edits = [
            ("iOS: {", "macOS: { version: \"2.0\", at: 2016-06-10T18:00:00Z }\n      iOS: {"),
            ("[paid]", "[{ era: paid, boughtSince: 2015-12-01 }]"),
        ]
        #expect(try !codes(edits, at: .distantFuture).contains("honor-window-outside-era"))
    }

    @Test func `a policy that no longer contains the app's Apple ID is reported`() throws {
        let found = try findings([(", appleID: 828838134", "")], against: [])
        #expect(found.map(\.code) == ["app-changed", "no-apple-id"])
        #expect(found.first?.severity == .error)
        #expect(
            found.first?.message
                == "the Apple ID was `828838134` and is missing now: production artifacts are matched by bundle ID alone"
        )
        #expect(found.first?.fix == "write `appleID: 828838134`")
        #expect(try codes(against: [(", appleID: 828838134", "")]) == [])
    }
}
