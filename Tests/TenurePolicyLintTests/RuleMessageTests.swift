import Foundation
import TenureCore
import TenurePolicyFile
import Testing

@testable import TenurePolicyLint

/// Messages of rules that have several messages. The examples in `Tests/PolicyLint` have one of them.
@Suite struct RuleMessageTests {
    private static let now = Date(timeIntervalSince1970: 1.8e9)
    private static let window = "    changeover: { from: -24h, until: +48h }\n"

    private func findings(_ code: String, _ edits: [(String, String)], at now: Date = now) throws -> [LintFinding] {
        try findingsInSamplePolicy(edits, at: now).filter { $0.code == code }
    }

    /// Returns the severity, the place and the message of each finding.
    private func texts(_ code: String, _ edits: [(String, String)], at now: Date = now) throws -> [String] {
        try findings(code, edits, at: now).map { "\($0.severity.rawValue) \($0.place): \($0.message)" }
    }

    /// Adds a free promotion before `freemium`, and macOS to one of the two eras.
    private func promotion(macOSIn era: String, honors: String) -> [(String, String)] {
        let mac = "macOS: { version: \"2.0\", at: 2015-06-12T18:00:00Z }"
        let promo = """
              - name: promo
                model: free
                begins: { iOS: { build: "90", at: 2015-06-01T00:00:00Z }\(era == "promo" ? ", " + mac : "") }
                changeover: none
              - name: freemium

            """
        return [
            ("  - name: freemium\n", promo), ("[paid]", "[\(honors)]"),
            ("      iOS: { build: \"120\"", (era == "promo" ? "" : "      \(mac)\n") + "      iOS: { build: \"120\""),
        ]
    }

    @Test func `an era without a platform of another era is a note, and an error if it is the last era`() throws {
        let middle = promotion(macOSIn: "freemium", honors: "paid")
        #expect(
            try texts("platform-forgotten", middle) == [
                "note eras/promo/macOS: `promo` doesn't say where it begins on macOS, and another era mentions macOS: `promo` didn't happen there, and everyone who gets the app there counts as `paid` and gets `premium` for nothing"
            ])
        #expect(
            try findings("platform-forgotten", middle).map(\.fix) == [
                "add `macOS` under `begins` of `promo`, with its first version there, its instant, or both; its value is `new` if the app came to macOS in that era"
            ])
        #expect(
            try texts("platform-forgotten", promotion(macOSIn: "promo", honors: "paid, promo")) == [
                "error eras/freemium/macOS: `freemium` doesn't say where it begins on macOS, and another era mentions macOS: `freemium` didn't happen there, and everyone who gets the app there counts as `promo` and gets `premium` for nothing"
            ])
        // Both eras give the same.
        #expect(try texts("platform-forgotten", promotion(macOSIn: "promo", honors: "paid")) == [])
    }

    @Test func `an honor with dates outside of its era is reported with the dates of both`() throws {
        func texts(_ honor: String) throws -> [String] {
            try self.texts("honor-window-outside-era", [("[paid]", "[\(honor)]")], at: .distantFuture)
        }
        let place = "entitlements/premium/honors"
        #expect(
            try texts("{ era: freemium, boughtBefore: 2015-06-09T18:00:00Z }") == [
                "error \(place)/freemium/boughtBefore: no customer can get `premium` through this honor: `freemium` begins at 2015-06-09T18:00:00Z, which isn't before `boughtBefore` (2015-06-09T18:00:00Z)"
            ])
        #expect(
            try texts("{ era: freemium, until: 2015-06-09T18:00:00Z }") == [
                "error \(place)/freemium/until: no customer ever has `premium` through this honor: it ends (`until`) at 2015-06-09T18:00:00Z, and `freemium` begins at 2015-06-09T18:00:00Z"
            ])
        #expect(
            try texts("{ era: paid, until: 2015-06-12T17:59:59Z }") == [
                "warning \(place)/paid/until: `premium` ends (`until`) at 2015-06-12T17:59:59Z, but `paid` lasts until 2015-06-12T18:00:00Z: customers who buy in between don't get it"
            ])
    }

    @Test func `a missing release of a new era is reported from the beginning of the era on`() throws {
        let own = [
            (
                "buildNumbers",
                "releases: [{ platform: iOS, build: \"110\", releasedAt: 2015-02-16 }]\nbuildNumbers"
            )
        ]
        let change = Date(timeIntervalSince1970: 1_433_959_200)
        let expected =
            "warning eras/freemium/begins/iOS: the release list's last release on iOS is build 110 (2015-02-16), before `freemium` begins: the build of every later customer isn't in the list and proves nothing"
        #expect(try texts("era-without-release", own, at: change) == [expected])
        #expect(try texts("era-without-release", own, at: change.addingTimeInterval(-1)) == [])
        let listed = own.map {
            ($0.0, $0.1.replacingOccurrences(of: " }]", with: " }, { platform: iOS, build: \"120\" }]"))
        }
        #expect(try texts("era-without-release", listed, at: change) == [])
    }

    @Test func `a wide window gives nothing away before the change, or if customers in doubt are undetermined`() throws
    {
        func text(_ from: String, _ until: String, _ more: String = "") throws -> String? {
            try findings(
                "changeover-wide",
                [
                    ("{ from: -24h, until: +48h }", "{ from: \(from), until: \(until) }"),
                    ("buildNumbers", more + "buildNumbers"),
                ]
            ).first?.message
        }
        let either = "customers who acquired the app in this window may belong to either era"
        #expect(
            try text("-1209601s", "0s")
                == "the changeover window of `freemium` is 14 days and 1s wide, more than 14 days: \(either)")
        #expect(
            try text("-24h", "+720h", "inDoubt: undetermined\n")
                == "the changeover window of `freemium` is 31 days wide, more than 14 days: \(either)")
        #expect(
            try text("-24h", "+720h")
                == "the changeover window of `freemium` is 31 days wide, more than 14 days: anyone who installed the app until 2015-07-10T18:00:00Z gets `premium` for nothing"
        )
    }

    @Test func `a change into an honored era without a changeover says who gets the entitlement anyway`() throws {
        #expect(
            try texts("no-changeover", [(Self.window, ""), ("[paid]", "[freemium]")]) == [
                "warning eras/freemium: `freemium` doesn't state its changeover: customers who got the app just after 2015-06-10T18:00:00Z, in a storefront that hadn't changed yet, get `premium` anyway"
            ])
    }

    @Test func `a first era before which every platform is new never applies`() throws {
        let new = [("iOS: { build: \"120\", at: 2015-06-10T18:00:00Z }", "iOS: new"), (Self.window, "")]
        #expect(
            try texts("era-never-applies", new) == [
                "warning eras/paid: `paid` never applies: every platform is `new` in a later era"
            ])
        let mac = [("iOS: { build", "macOS: { version: \"2.0\" }\n      iOS: { build")]
        #expect(try texts("era-never-applies", mac + new) == [])
    }

    @Test func `an entitlement that only support can grant is reported, with its trial if it has one`() throws {
        func texts(_ cloud: String) throws -> [String] {
            try self.texts("entitlement-without-source", [("[paid]\n", "[paid]\n  cloud: { \(cloud) }\n")])
        }
        let start = "error entitlements/cloud: customers can have `cloud`"
        let end = "only by a grant of support: it has no products and honors no era"
        #expect(try texts("honors: []") == ["\(start) \(end)"])
        #expect(try texts("trial: { days: 1 }") == ["\(start) after its trial \(end)"])
        #expect(try texts("honors: [paid]") == [])
        #expect(try texts("products: [com.example.calculator.cloud]") == [])
    }

    @Test(arguments: [("days: 1", "1 day"), ("days: 2", "2 days"), ("sessions: 1", "1 session")])
    func `a trial that no customer needs is reported with its length`(trial: String, length: String) throws {
        let edits = [("[paid]", "[paid, freemium]\n    trial: { \(trial) }")]
        #expect(
            try texts("trial-for-everybody", edits) == [
                "warning entitlements/premium/trial: no customer needs \(length) of trial: `premium` is honored for every era (`paid`, `freemium`), so everyone who has the app has it"
            ])
        let one = [("[paid]", "[paid]\n    trial: { \(trial) }")]
        #expect(try texts("trial-for-everybody", one) == [])
    }
}
