import Foundation
import TenureCore
import Testing

@testable import TenurePolicyFile

/// Reports about values of the wrong kind, and about empty values.
@Suite struct StructureMistakeTests {
    private func mistakes(_ text: String) -> String {
        do throws(PolicyFileError) {
            _ = try PolicyFile.read(text, named: "policy.yaml")
            return ""
        } catch {
            return error.description
        }
    }

    @Test func `a list in place of a single value is reported with an example of the value`() {
        let text = """
            app: { bundleID: com.example.calculator }
            eras:
              - { name: paid, model: paid }
              - { name: free, model: free, begins: { iOS: { build: [120], at: [2015-06-10] } }, changeover: none }
            releases:
              - { platform: [iOS], build: "37", releasedAt: 2014-01-01 }
              - { platform: iOS, build: "38", releasedAt: [2014-02-01] }
              - { platform: macOS, build: "900", releasedAt: 2014-03-01 }
            entitlements:
              everything:
                honors: [{ era: paid, boughtSince: [2014-01-01], for: [P1Y] }]
            """
        #expect(
            mistakes(text) == """
                policy.yaml:4:49: a list isn't a version; write `build: "120"`
                policy.yaml:4:63: a list isn't an instant; write one such as `2015-06-10T18:00:00Z`
                policy.yaml:6:7: a list isn't a platform; write one of `iOS`, `macOS`, `tvOS`, `watchOS` or `visionOS`
                policy.yaml:7:35: a list isn't a date; write one such as `2015-06-10`
                policy.yaml:8:5: this release has no `version`: on macOS the App Store reports the marketing version (CFBundleShortVersionString); write it
                policy.yaml:11:27: a list isn't a date; write one such as `2015-06-10`
                policy.yaml:11:54: a list isn't a calendar period; write one such as `P1Y`, `P3M`, `P2W` or `P10D`
                """)
    }

    @Test func `a Boolean or a number in place of a name must be in quotes`() {
        let text = """
            app: { bundleID: True }
            eras: [{ name: "true", model: paid }]
            entitlements:
              everything: { products: [false, 12, "12"], honors: ["true"] }
            """
        #expect(
            mistakes(text) == """
                policy.yaml:1:18: `True` isn't text; put it in quotes: `"True"`
                policy.yaml:4:28: `false` isn't text; put it in quotes: `"false"`
                policy.yaml:4:35: `12` isn't text; put it in quotes: `"12"`
                """)
    }

    @Test func `an entitlement without a value, an empty trial and a key that isn't text are mistakes`() {
        let text = """
            app: { bundleID: com.example.calculator }
            eras: [{ name: paid, model: paid }]
            entitlements:
              everything:
              cloud: { products: [a], trial: {} }
              [trees]: { products: [b] }
            """
        #expect(
            mistakes(text) == """
                policy.yaml:4:3: `everything` is empty; write its `products`, its `honors`, or both
                policy.yaml:5:27: the trial is empty; write `sessions: 5` or `days: 14`
                policy.yaml:6:3: a key must be plain text, not a list or a mapping
                """)
    }

    private static let policy = """
        app: { bundleID: com.example.calculator, appleID: 828838134 }
        eras:
          - { name: paid, model: paid }
          - { name: free, model: free, begins: { macOS: { at: 2015-06-10T18:00:00Z } }, changeover: none }
        entitlements: { everything: { honors: [paid] } }
        inDoubt: favorCustomer
        """

    @Test(arguments: [
        ("828838134", "[1]", "1:42: a list isn't a whole number; write one, such as `appleID: 828838134`"),
        (
            "com.example.calculator", "{ a: b }",
            "1:8: a mapping isn't possible here; write a string, such as `com.example.calculator`"
        ),
        (
            "changeover: none", "changeover: { from: [1], until: +48h }",
            "4:95: a list isn't a length of time; write one such as `-24h`"
        ),
        (
            "favorCustomer", "[favorCustomer]",
            "6:1: a list isn't possible here; write `favorCustomer` or `undetermined`"
        ),
        (
            "{ everything: { honors: [paid] } }", "[everything]",
            "5:1: a list isn't possible here; write each entitlement under its name, such as `everything: { honors: [paid] }`"
        ),
        ("macOS", "Mac", "4:42: `Mac` isn't a platform that the App Store reports; write `macOS`"),
        ("macOS", "iPadOS", "4:42: `iPadOS` isn't a platform that the App Store reports; write `iOS`"),
    ])
    func `a value of the wrong kind is reported with what to write there`(old: String, new: String, mistake: String) {
        #expect(mistakes(Self.policy) == "")
        let found = mistakes(Self.policy.replacingOccurrences(of: old, with: new)).split(separator: "\n")
        #expect(found.contains("policy.yaml:\(mistake)"), "\(found)")
    }

    @Test(
        arguments: [
            ("Platform", .platform), ("version", .version), ("Marketing Version", .version),
            ("CFBundleShortVersionString", .version), ("build", .build), ("Build_Number", .build),
            ("CFBundleVersion", .build), ("releasedAt", .releasedAt), ("released", .releasedAt),
            ("Release-Date", .releasedAt), ("DATE", .releasedAt), ("model", .model), ("Price Model", .model),
            ("Price", nil), ("builds", nil), ("", nil),
        ] as [(String, ReleaseListFile.Column?)])
    func `a column of a release list is recognized by each of its names`(name: String, column: ReleaseListFile.Column?)
    {
        #expect(ReleaseListFile.Column(header: name) == column)
    }

    @Test(
        arguments: [
            ("iOS", .iOS), ("IOS", .iOS), ("iPadOS", .iOS), ("MAC_OS", .macOS), ("OS X", .macOS),
            ("Mac Catalyst", .macOS), ("Apple TV", .tvOS), ("watch", .watchOS), ("xrOS", .visionOS),
            ("VISION_OS", .visionOS), ("Windows", nil),
        ] as [(String, Platform?)])
    func `a platform of an exported list is recognized by the names that other systems use`(
        name: String, platform: Platform?
    ) {
        #expect(PlatformName.meant(by: name) == platform)
    }

    @Test func `the columns of a release list may be in any order, under any of their names`() throws {
        let list = "Price Model,CFBundleVersion,Release Date,Marketing Version,Platform\npaid,37,2014-01-02,1.5,iOS\n"
        let releases = try ReleaseListFile.listed(Array(list.utf8), named: "list.csv").map(\.release)
        let day = try #require(CivilDay("2014-01-02"))
        #expect(
            releases == [
                Release(
                    platform: .iOS, version: AppVersion("1.5"), build: AppVersion("37"), releasedAt: .day(day),
                    model: .paid)
            ])
    }
}
