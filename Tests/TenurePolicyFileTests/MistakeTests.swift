import Foundation
import Testing

@testable import TenurePolicyFile

/// The complete reports about files with mistakes.
@Suite struct MistakeTests {
    private func mistakes(_ text: String, named name: String = "policy.yaml", csv: String? = nil) -> String {
        do throws(PolicyFileError) {
            _ = try PolicyFile.read(text, named: name) { path in
                guard let csv else { throw PolicyFile.NoReleaseList() }
                return Array(csv.utf8)
            }
            return ""
        } catch {
            return error.description
        }
    }

    @Test func `all mistakes of a policy file are reported at once, with their places and what to write instead`() {
        let text = """
            app: { bundleID: com.example.calculator, appleID: "828838134" }
            eras:
              - name: paid
                model: payed
              - name: freemium
                model: free
                begins:
                  iPadOS: { build: "120" }
                  iOS: { version: "2.0", at: 2015-06-10 }
                  macOS: { build: "60", at: 2015-06-12T18:00:00 }
                  tvOS: soon
                changeover: { from: -24, until: 48h }
            buildNumber: increasing
            entitlements:
              everything:
                product: [a]
                honours: [paid]
                trial: { sessions: 5, days: 3 }
              cloud:
                products: com.example.calculator.yearly
                honors:
                  - { era: payed, for: 1Y }
                  - { boughtSince: June }
              cloud: {}
            inDoubt: favourCustomer
            whileUndetermined: allow
            testEnvironments:
            """
        #expect(
            mistakes(text) == """
                policy.yaml:1:51: `828838134` isn't a whole number; write it without quotes, such as `appleID: 828838134`
                policy.yaml:4:12: `payed` is unknown here; did you mean `paid`?
                policy.yaml:8:7: `iPadOS` isn't a platform that the App Store reports; write `iOS`
                policy.yaml:9:14: on iOS the App Store reports the build (CFBundleVersion), never the marketing version (CFBundleShortVersionString): `version` would prove nothing; write `build`
                policy.yaml:9:34: `2015-06-10` is a day, which begins at a different time in each time zone; write a time and a time zone, such as `2015-06-10T18:00:00Z`
                policy.yaml:10:16: on macOS the App Store reports the marketing version (CFBundleShortVersionString), never the build (CFBundleVersion): `build` would prove nothing; write `version`
                policy.yaml:10:33: `2015-06-12T18:00:00` has no time zone; write `2015-06-12T18:00:00Z` for UTC, or an offset such as `2015-06-12T18:00:00+02:00`
                policy.yaml:11:13: `soon` isn't a beginning; write `{ build: "120", at: 2015-06-10T18:00:00Z }`, or `new` if the app came to this platform in this era
                policy.yaml:12:25: `-24` isn't a length of time; write a number with its unit (`w`, `d`, `h`, `m`, `s`), such as `-24h`
                policy.yaml:13:1: `buildNumber` is unknown here; did you mean `buildNumbers`?
                policy.yaml:16:5: `product` is unknown here; did you mean `products`?
                policy.yaml:17:5: `honours` is unknown here; did you mean `honors`?
                policy.yaml:18:5: a trial has either `sessions` or `days`; keep one of them
                policy.yaml:20:15: `com.example.calculator.yearly` isn't a list; write `products: [com.example.calculator.everything]`
                policy.yaml:22:9: there is no era `payed`; write one of `paid`, `freemium`
                policy.yaml:22:28: `1Y` isn't a calendar period; write one such as `P1Y`, `P3M`, `P2W` or `P10D`
                policy.yaml:23:9: `era` is missing; write `era: paid`
                policy.yaml:23:24: `June` isn't a date; write one such as `2015-06-10` or `2015-06-10T18:00:00Z`
                policy.yaml:24:3: `cloud` is written twice, first in line 19; keep one
                policy.yaml:25:10: `favourCustomer` is unknown here; did you mean `favorCustomer`?
                policy.yaml:26:20: `allow` is unknown here; write `{ allow: 72h }` or `deny`
                policy.yaml:27:1: `testEnvironments` has no value; write one, or remove the line
                """)
    }

    @Test func `wrong values and structure of a policy are reported together, without consequential errors`() {
        let text = """
            app: { bundleID: com.example.calculator }
            eras:
              - name: paid
                model: paid
              - { model: free, begins: { iOS: { build: one } } }
              - name: paid
                model: paid
              - name: late
                model: free
                begins: { macOS: { version: 2.0, at: 2015-06-12T18:00:00Z } }
                changeover: none
              - name: later
                model: free
                begins: { macOS: { version: 1.9, at: 2014-06-12T18:00:00Z } }
                changeover: none
            entitlements:
              everything:
                products: [a, a]
                honors: [unknown, { era: paid, boughtSince: 2015-01-01, boughtBefore: 2014-01-01 }]
            """
        #expect(
            mistakes(text) == """
                policy.yaml:5:5: `name` is missing; write `name: paid`
                policy.yaml:5:44: `one` isn't a version that the App Store can order; write numbers separated by periods, such as `"120"`
                policy.yaml:6:5: `paid` has no beginning; add `begins` with `build` (on macOS `version`), `at`, or both for each platform
                policy.yaml:6:11: `paid` names two eras; give each its own name, such as `paidAgain`
                policy.yaml:14:33: `1.9` is lower than `2.0`, where `late` begins; correct one of them
                policy.yaml:14:42: `later` begins before `late` does; write the eras oldest first
                policy.yaml:18:19: `a` is listed twice; keep one
                policy.yaml:19:23: `boughtSince` must be earlier than `boughtBefore`
                """)
    }

    @Test(arguments: [
        (
            "",
            "policy.yaml:1:1: the file is empty; write a policy, beginning with `app: { bundleID: com.example.calculator }`"
        ),
        (
            "# nothing\n",
            "policy.yaml:1:1: the file is empty; write a policy, beginning with `app: { bundleID: com.example.calculator }`"
        ),
        (
            "hello",
            "policy.yaml:1:1: this looks like plain text, not like a policy; check the path, or begin the file with `app: { bundleID: com.example.calculator }`"
        ),
        (
            "{}",
            """
            policy.yaml:1:1: `app` is missing; write `app: { bundleID: com.example.calculator }`
            policy.yaml:1:1: `eras` is missing; write `eras: [{ name: paid, model: paid }]`
            policy.yaml:1:1: `entitlements` is missing; write `entitlements: { everything: { honors: [paid] } }`
            """
        ),
    ])
    func `the error for a file that isn't a policy says what is missing`(_ text: String, _ expected: String) {
        #expect(mistakes(text) == expected)
    }

    @Test func `each mistake in a title is reported at its place`() {
        let text = """
            app: { bundleID: com.example.calculator }
            eras: [{ name: paid, model: paid }]
            entitlements:
              everything:
                title: Everything
                products:
                  - { id: a, title: { en: "", de_AT: Alles } }
                  - { id: b, title: { en: 2015, de: "A\\u202EB" } }
                  - { id: c, title: {} }
                  - { id: d, titel: { en: D } }
              cloud:
                title: { en: Cloud, EN: Cloud, deutsch: Wolke }
              trees:
                title: [Trees]
            """
        #expect(
            mistakes(text) == """
                policy.yaml:5:12: `Everything` has no language; write a text for each language, such as `title: { en: Everything }`
                policy.yaml:7:31: the title is empty; write a name for customers
                policy.yaml:7:42: `de_AT` isn't a language tag; write `de-AT`
                policy.yaml:8:31: `2015` isn't text; put it in quotes: `"2015"`
                policy.yaml:8:41: the title has the invisible character U+202E; remove it
                policy.yaml:9:18: the title has no text; write one, such as `{ en: Everything }`
                policy.yaml:10:18: `titel` is unknown here; did you mean `title`?
                policy.yaml:12:29: the title has two texts for `EN`; keep one
                policy.yaml:12:45: `deutsch` isn't a language tag; write one such as `en` or `pt-BR`
                policy.yaml:14:5: a list has no language; write a text for each language, such as `title: { en: Everything }`
                """)
    }

    private static let header =
        "app: { bundleID: com.example.calculator }\nentitlements: { everything: { honors: [paid] } }\n"

    @Test func `a missing buildNumbers is a mistake, unless the release list can't be read`() {
        let eras = "eras: [{ name: paid, model: paid }, { name: free, model: free, begins: { iOS: { build: 120 } } }]\n"
        #expect(
            mistakes(Self.header + eras).hasPrefix(
                "policy.yaml:1:1: the policy doesn't state whether build numbers on iOS"))
        #expect(
            mistakes(Self.header + eras + "releases: builds.csv") == """
                policy.yaml:4:11: the release list `builds.csv` can't be read (a policy that is read from memory can't name another file); write its path relative to this file, or the releases themselves
                """)
    }

    @Test func `an empty path of a release list is a mistake, with the place of the path`() {
        #expect(
            mistakes(Self.header + "eras: [{ name: paid, model: paid }]\nreleases: \"\"") == """
                policy.yaml:4:11: the path of the release list is empty; write it, such as `releases: releases.csv`, or leave out `releases`
                """)
    }

    private func policy(changeover: String = "", honors: String = "[paid]", more: String = "") -> String {
        """
        app: { bundleID: com.example.calculator }
        eras:
          - { name: paid, model: paid }
          - name: freemium
            model: free
            begins: { iOS: { build: "120", at: 2015-06-10T18:00:00Z } }\(changeover)
        buildNumbers: increasing
        entitlements: { everything: { honors: \(honors) } }\(more)
        """
    }

    @Test func `a dated change out of an honored era must state its changeover`() {
        let unstated = """
            policy.yaml:4:5: `freemium` doesn't state its changeover, so customers who buy during the change may be assigned to the wrong era; write `changeover: { from: -24h, until: +48h }`, or `changeover: none` if price and version changed at one instant
            """
        #expect(mistakes(policy()) == unstated)
        #expect(mistakes(policy(honors: "[paid, freemium]")) == unstated)
        #expect(mistakes(policy(honors: "[{ era: paid, for: P1Y }]")) == unstated)
        for stated in ["none", "{ from: -24h, until: +48h }", "{ until: 0 }"] {
            #expect(mistakes(policy(changeover: "\n    changeover: \(stated)")) == "")
        }
        // No entitlement honors the era before it, or the change has no date.
        #expect(mistakes(policy(honors: "[freemium]")) == "")
        #expect(mistakes(policy().replacingOccurrences(of: ", at: 2015-06-10T18:00:00Z", with: "")) == "")
    }

    @Test func `a changeover that can't be read isn't also reported as missing`() {
        #expect(
            mistakes(policy(changeover: "\n    changeover: never")) == """
                policy.yaml:7:17: `never` is unknown here; write `{ from: -24h, until: +48h }` or `none`
                """)
        #expect(
            mistakes(policy(changeover: "\n    changeover: {}")) == """
                policy.yaml:7:5: the changeover is empty; write `{ from: -24h, until: +48h }` or `none`
                """)
    }

    @Test func `a release list with undated releases must be sorted from the oldest, on each platform`() {
        let csv = """
            platform,version,build,releasedAt
            iOS,,36,
            iOS,,37,2014-05-01
            macOS,1.0,,2013-01-01
            iOS,,30,2014-04-30T10:00:00Z
            iOS,,20,2014-04-01
            iOS,,38,2015-01-01
            """
        let text = policy(changeover: "\n    changeover: none", more: "\nreleases: builds.csv")
        #expect(
            mistakes(text, csv: csv) == """
                builds.csv:6:6: this release is older than one listed before it on iOS, and a list with undated releases must be oldest first; move it, or date every release
                """)
        #expect(mistakes(text, csv: csv.replacingOccurrences(of: "iOS,,36,\n", with: "")) == "")
        let sameDay = """
            platform,version,build,releasedAt
            iOS,,36,
            iOS,,37,2014-05-02T10:00:00Z
            iOS,,38,2014-05-02T09:00:00Z
            """
        #expect(mistakes(text, csv: sameDay).hasPrefix("builds.csv:4:6: this release is older than one listed before"))
        let sorted = sameDay.replacingOccurrences(of: "T09:", with: "T11:")
        #expect(mistakes(text, csv: sorted) == "")
    }

    @Test func `mistakes in a release list are reported with the list's file name and places`() {
        let text = Self.header + "eras: [{ name: paid, model: paid }]\nreleases: builds.csv\ntestEnvironments: owners"
        let csv = """
            Platform,Build,Released At,Model,Note
            """
        #expect(
            mistakes(text, csv: csv) == """
                policy.yaml:5:19: `owners` is unknown here; did you mean `owner`?
                builds.csv:1:34: the column `Note` is unknown; write one of `platform`, `version`, `build`, `releasedAt` or `model`
                """)
        let rows = """
            Platform,Build,Released At,Model
            iOS,37,2014-03-01,paid
            iPadOS,38,2014-04-31,gratis
            iOS,,2014-05-01,paid
            iOS,1.x,,paid
            macOS,60,2014-05-01,paid
            iOS,39,2014-05-02,paid,1
            """
        #expect(
            mistakes(text, csv: rows) == """
                policy.yaml:5:19: `owners` is unknown here; did you mean `owner`?
                builds.csv:1:1: the column `version` is missing: on macOS the App Store reports the marketing version (CFBundleShortVersionString); add it
                builds.csv:3:1: `iPadOS` isn't a platform that the App Store reports; write `iOS`
                builds.csv:3:11: `2014-04-31` isn't a date; write one such as `2015-06-10` or `2015-06-10T18:00:00Z`
                builds.csv:3:22: `gratis` isn't a model; write `paid` or `free`
                builds.csv:4:1: this release has no `build`: on iOS the App Store reports the build (CFBundleVersion); write it
                builds.csv:5:5: `1.x` isn't a version that the App Store can order; write numbers separated by periods
                builds.csv:7:24: this row has 5 cells under 4 columns; put texts with commas in quotes
                """)
    }

    @Test(arguments: [
        ("app: 1\n\tbundleID: x", "policy.yaml:2:1: a tab can't indent YAML; use spaces"),
        ("a: 1\n---\nb: 2", "policy.yaml:2:1: a second document begins here; keep only one in a file"),
        (
            "a: &x 1\nb: *x",
            "policy.yaml:1:4: anchors (`&name`) and aliases (`*name`) can't be used here; write the value itself instead of an alias"
        ),
        (
            "b: *x",
            "policy.yaml:1:4: anchors (`&name`) and aliases (`*name`) can't be used here; put a string that begins with `*` in quotes"
        ),
        ("a: \u{0}", "policy.yaml:1:4: the control character U+0000 isn't allowed here; remove it"),
        (
            "a: [1, 2",
            "policy.yaml:1:9: this isn't YAML (did not find expected ',' or ']' while parsing a flow sequence); check the indentation, brackets and quotes before this place"
        ),
    ])
    func `invalid YAML is reported in plain words`(_ text: String, _ expected: String) {
        #expect(mistakes(text) == expected)
    }

    @Test(arguments: [
        ("{\"app\": 1, \"app\": 2, }", "policy.json:1:22: remove the comma before this `}`"),
        ("{\"a\": tru}", "policy.json:1:7: expected a value; text needs double quotes"),
        (
            "{\"a\": \"\\ud800\"}",
            "policy.json:1:8: unpaired surrogate; characters beyond U+FFFF need two `\\u` escapes"
        ),
        ("{\"a\": 01}", "policy.json:1:8: expected `,` or `}`"),
        ("", "policy.json:1:1: the text ends where a value is expected"),
        ("{} {}", "policy.json:1:4: unexpected text after the value; remove it"),
        ("{\"a\": \"b", "policy.json:1:9: a string isn't closed; write `\"` where it ends"),
    ])
    func `invalid JSON is reported at its position`(_ text: String, _ expected: String) {
        #expect(mistakes(text, named: "policy.json") == expected)
    }

    @Test func `a repeated key is reported at each repetition, and the rest of the file is checked too`() {
        let json = """
            {"app": {"bundleID": "x", "bundleID": "y"}, "eras": [{"name": "paid", "model": "paid"}],
             "entitlements": {"e": {"honors": ["paid"]}}, "eras": [], "inDoubts": "x"}
            """
        #expect(
            mistakes(json, named: "policy.json") == """
                policy.json:1:27: `bundleID` is written twice, first in line 1; keep one
                policy.json:2:47: `eras` is written twice, first in line 1; keep one
                policy.json:2:59: `inDoubts` is unknown here; did you mean `inDoubt`?
                """)
        let yaml = """
            app: { bundleID: x, "bundleID": y }
            eras: [{ name: paid, model: paid }]
            entitlements: { e: { honors: [paid] } }
            eras: []
            eras: []
            """
        #expect(
            mistakes(yaml) == """
                policy.yaml:1:21: `bundleID` is written twice, first in line 1; keep one
                policy.yaml:4:1: `eras` is written twice, first in line 2; keep one
                policy.yaml:5:1: `eras` is written twice, first in line 2; keep one
                """)
    }

    @Test func `an acknowledgment needs a code, a place and a reason`() {
        let text = """
            app: { bundleID: com.example.calculator }
            eras: [{ name: paid, model: paid }]
            entitlements: { everything: { honors: [paid] } }
            acknowledge:
              - { code: no-apple-id, at: app }
              - { code: no-apple-id, at: eras, reason: " " }
              - no-apple-id
              - { code: 7, at: app, reason: it is meant, until: 2027-01-01 }
            """
        #expect(
            mistakes(text) == """
                policy.yaml:5:5: `reason` is missing; write `reason: the price fell in each storefront on its own day`
                policy.yaml:6:44: the reason is empty; write why the finding is intended
                policy.yaml:7:5: `no-apple-id` isn't possible here; write keys and values, such as `code: changeover-wide`
                policy.yaml:8:13: `7` isn't text; put it in quotes: `"7"`
                policy.yaml:8:46: `until` is unknown here; write one of `code`, `at` or `reason`
                """)
        let list = "acknowledge: all\n" + text.split(separator: "\n").prefix(3).joined(separator: "\n")
        #expect(mistakes(list).contains("policy.yaml:1:14: `all` isn't a list; write `acknowledge: [{ code: "))
    }
}
