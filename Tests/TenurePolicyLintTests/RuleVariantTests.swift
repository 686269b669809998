import Foundation
import Testing

@testable import TenurePolicyLint

/// Messages for rarer cases of a rule: on macOS, without a date, or for a removed setting.
@Suite struct RuleVariantTests {
    private typealias Edits = [(String, String)]

    /// Returns the severity, the place and the message of each finding of one rule.
    private func texts(
        _ code: String, _ edits: Edits = [], list: String? = nil, against old: Edits? = nil
    ) throws -> [String] {
        try findingsInSamplePolicy(edits, list: list, against: old, at: Date(timeIntervalSince1970: 1.8e9))
            .filter { $0.code == code }
            .map { "\($0.severity.rawValue) \($0.place): \($0.message)" }
    }

    private static let mac = [("iOS: { build: \"120\"", "macOS: { version: \"2.0\"")]

    @Test func `a build under restarted build numbers is an error if the era has no date either`() throws {
        let undated = [
            (", at: 2015-06-10T18:00:00Z", ""), ("    changeover: { from: -24h, until: +48h }\n", ""),
            ("increasing", "restarted"),
        ]
        let reason = "because build numbers began again and no release list says when each build was on sale"
        let consequence = "nothing separates `paid` from `freemium` on iOS, and every customer there is undetermined"
        #expect(
            try texts("build-never-used", undated) == [
                "error eras/freemium/begins/iOS/build: build 120 is never compared, \(reason): \(consequence)"
            ])
    }

    @Test func `a boundary at 1 is an error, and at 1.0 a warning, because there may be a version 0`() throws {
        let losing = "every customer counts as `freemium`, and owners without a known purchase date lose `premium`"
        let build = "eras/freemium/begins/iOS/build"
        for (number, expected) in [
            ("0.9", ["error \(build): no build is below 0.9: \(losing)"]),
            ("1.0", ["warning \(build): if no release had a build below 1.0, \(losing)"]), ("1.1", []), ("2", []),
        ] as [(String, [String])] {
            #expect(try texts("boundary-at-first-build", [("\"120\"", "\"\(number)\"")]) == expected)
        }
        let first = [("iOS: { build: \"120\"", "macOS: { version: \"1\"")]
        #expect(
            try texts("boundary-at-first-build", first) == [
                "error eras/freemium/begins/macOS/version: no version is below 1: \(losing)"
            ])
        // The list has a release below it.
        let list = "iOS,0.9,0.9,2014-01-01,paid\niOS,1.0,1.0,2015-06-10,free\n"
        #expect(try texts("boundary-at-first-build", [("\"120\"", "\"1.0\"")], list: list) == [])
    }

    @Test func `versions that fell on macOS, and a build of two releases on iOS, contradict rising numbers`() throws {
        let fallen = "macOS,1.5,,2014-01-01,paid\nmacOS,1.4,,2015-02-16,paid\nmacOS,2.0,,2015-06-10,free\n"
        #expect(
            try texts("increasing-contradicted", Self.mac, list: fallen) == [
                "error releases/macOS/1.4: versions didn't always rise: on macOS version 1.4 (2015-02-16) came after version 1.5 (2014-01-01); versions between them prove the wrong era"
            ])
        let twice = "iOS,1.0,110,2014-01-01,paid\niOS,1.1,110,2015-02-16,paid\niOS,2.0,120,2015-06-10,free\n"
        #expect(
            try texts("increasing-contradicted", list: twice) == [
                "error releases/iOS/110/2015-02-16: `buildNumbers: increasing` is wrong: on iOS two releases have build 110 (2014-01-01 and 2015-02-16); the build doesn't tell them apart"
            ])
        // One release with two rows.
        let again = twice.replacingOccurrences(of: "1.1,110", with: "1.0,110")
        #expect(try texts("increasing-contradicted", list: again) == [])
    }

    @Test func `a version of two eras on macOS gives the paid app away`() throws {
        let list = "macOS,1.5,,2014-01-01,paid\nmacOS,1.5,,2015-08-01,free\nmacOS,2.0,,2015-09-01,free\n"
        let eras = "version 1.5 on macOS was released in `paid` (2014-01-01) and again in `freemium` (2015-08-01)"
        let releases = "\(eras), and the policy treats the second release as the first"
        let consequence = "anyone who first got the app with that release in `freemium` gets `premium` for nothing"
        #expect(
            try texts("build-reused", Self.mac, list: list) == [
                "error releases/macOS/1.5/2015-08-01: \(releases): \(consequence)"
            ])
    }

    @Test func `an undated release of an era that begins after the next release contradicts the list`() throws {
        func list(_ last: String) -> Edits {
            let releases = """
                releases:
                  - { platform: iOS, build: "110", releasedAt: 2014-01-01 }
                  - { platform: iOS, build: "120" }
                  - { platform: iOS, build: "130", releasedAt: \(last) }
                buildNumbers
                """
            return [("buildNumbers", releases)]
        }
        #expect(
            try texts("boundary-out-of-order", list("2015-03-01")) == [
                "error eras/freemium/begins/iOS/at: `freemium` begins on iOS with build 120 at 2015-06-10T18:00:00Z, but the release list has build 120 before build 130 (2015-03-01): customers may be assigned to the wrong era"
            ])
        #expect(try texts("boundary-out-of-order", list("2015-07-01")) == [])
    }

    @Test func `a trial is reported if it is shorter, counted differently or removed, and not if it is longer`() throws
    {
        func trial(_ text: String) -> Edits { [("[paid]", "[paid]\n    trial: { \(text) }")] }
        func changed(_ old: String, _ new: String) -> String {
            "warning entitlements/premium/trial: the trial of `premium` was \(old) and is \(new): customers who are in the trial may be locked out"
        }
        for (old, new, expected) in [
            ("days: 30", "days: 29", [changed("30 days", "29 days")]),
            ("days: 2", "days: 1", [changed("2 days", "1 day")]), ("days: 30", "days: 30", []),
            ("days: 30", "days: 31", []), ("days: 5", "sessions: 30", [changed("5 days", "30 sessions")]),
            ("sessions: 30", "days: 30", [changed("30 sessions", "30 days")]), ("sessions: 5", "sessions: 6", []),
        ] as [(String, String, [String])] {
            #expect(try texts("trial-shortened", trial(new), against: trial(old)) == expected, "\(old), \(new)")
        }
        #expect(
            try texts("trial-shortened", against: trial("sessions: 5")) == [
                "warning entitlements/premium: customers who are trying `premium` for 5 sessions would lose it at once"
            ])
        #expect(try texts("trial-shortened", trial("days: 1"), against: []) == [])
    }

    @Test func `another app is reported by its bundle ID, and by its Apple ID, also if that is missing now`() throws {
        let id = ", appleID: 828838134"
        #expect(
            try texts("app-changed", [(id, "")], against: []) == [
                "error app/appleID: the Apple ID was `828838134` and is missing now: production artifacts are matched by bundle ID alone"
            ])
        #expect(try texts("app-changed", against: [(id, "")]) == [])
        #expect(
            try texts("app-changed", [("calculator,", "calculator2,")], against: []) == [
                "error app/bundleID: the bundle ID was `com.example.calculator`: no artifact of a customer of that app counts for `com.example.calculator2`"
            ])
        #expect(try texts("app-changed", against: []) == [])
    }

    @Test func `a changed setting is reported in both directions`() throws {
        func setting(_ text: String) -> Edits { [("buildNumbers", "\(text)\nbuildNumbers")] }
        #expect(
            try texts("settings-edited", against: setting("inDoubt: undetermined")) == [
                "note inDoubt: `inDoubt` was `undetermined` and is `favorCustomer`: customers with proofs that leave a doubt are now granted what was undetermined"
            ])
        let allowance = "the setting decides what customers get before anything is known about them"
        #expect(
            try texts("settings-edited", setting("whileUndetermined: { allow: 48h }"), against: []) == [
                "note whileUndetermined: `whileUndetermined` was `{ allow: 72h }` and is `{ allow: 48h }`: \(allowance)"
            ])
        #expect(
            try texts("settings-edited", against: setting("testEnvironments: owner")) == [
                "note testEnvironments: `testEnvironments` was `owner` and is `newCustomer`: this changes what testers and App Review see, but not what customers get"
            ])
        #expect(try texts("settings-edited", setting("inDoubt: favorCustomer"), against: []) == [])
    }

    @Test func `a setting for owners names only the entitlements that owners have`() throws {
        func edits(_ setting: String) -> Edits {
            [
                (
                    "honors: [paid]\n",
                    """
                    honors: [paid]
                      studio: { honors: [paid] }
                      yearly: { products: [com.example.calculator.yearly] }

                    """
                ), ("buildNumbers", "\(setting)\nbuildNumbers"),
            ]
        }
        #expect(
            try texts("testers-are-owners", edits("testEnvironments: owner")) == [
                "note testEnvironments: every tester in Sandbox and TestFlight, and App Review, has `premium` and `studio`: no tester sees what a new customer sees before the release"
            ])
        #expect(
            try texts("undetermined-denies", edits("whileUndetermined: deny")) == [
                "note whileUndetermined: an owner who is offline at the first launch after the update is refused `premium` or `studio`, because nothing is known yet"
            ])
        // From a day on, the setting isn't reported. Every entitlement depends on it.
        #expect(try texts("allow-too-short", edits("whileUndetermined: { allow: 24h }")) == [])
        let short = try texts("allow-too-short", edits("whileUndetermined: { allow: 86399s }"))
        #expect(short.count == 1 && short.allSatisfy { $0.contains("are denied `premium`, `studio` or `yearly`") })
    }

    @Test func `a changeover window names every platform on which the era has no date`() throws {
        let begins = """
            macOS: { version: "2.0" }
                  iOS: { build: "120" }
                  tvOS: { build: "120", at: 2016-06-10T18:00:00Z }
            """
        #expect(
            try texts("changeover-without-date", [("iOS: { build: \"120\", at: 2015-06-10T18:00:00Z }", begins)]) == [
                "warning eras/freemium/changeover: the beginning on iOS and macOS has no date, so the changeover window has no effect there: customers who came during the change are judged by their version alone"
            ])
        #expect(try texts("changeover-without-date") == [])
    }
}
